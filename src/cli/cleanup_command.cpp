// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"

#include <fmt/format.h>

#include <assay/session/session.h>

namespace assay::cli {
namespace {

Result<int> clean_up(const Context& context) {
  ASSAY_TRY(const auto store, store::open_sqlite(context.store));
  const session::CleanUp done = session::clean_up(*store);
  for (const auto& line : done.lines) fmt::print("{}\n", line);
  if (done.trouble) return fail(*done.trouble);
  if (done.lines.empty()) fmt::print("nothing was left behind\n");
  return kDone;
}

}  // namespace

void add_cleanup_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "cleanup", "Remove containers and processes that sessions left behind when they were killed");
  command->footer(
      "\nEvery `assay run` does this by itself; this command also asks the container daemon at\n"
      "DOCKER_HOST. What belongs to a session that still runs is left alone.\n");
  add_store_option(*command, context);
  command->callback([&context] { context.action = [&context] { return clean_up(context); }; });
}

}  // namespace assay::cli
