// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"
#include "spec_options.h"

#include <fmt/format.h>
#include <memory>

#include <assay/session/session.h>

namespace assay::cli {
namespace {

Result<int> check(const SpecArguments& args, const Context& context) {
  ASSAY_TRY(const session::Spec spec, read_spec(args, context.behind_dashes));
  const session::Plan plan = session::make_plan(spec);
  fmt::print("{}", session::describe_plan(spec, plan));
  if (!plan.errors.empty()) return fail(all_of(plan.errors));
  return kDone;
}

}  // namespace

void add_check_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "check", "Print what would run, and every error, without starting anything");
  command->footer(
      "\nExit codes: 0 all is well, 2 the spec has errors, 4 this machine cannot run it.\n");
  auto args = std::make_shared<SpecArguments>();
  add_spec_options(*command, *args);
  command->callback(
      [args, &context] { context.action = [args, &context] { return check(*args, context); }; });
}

}  // namespace assay::cli
