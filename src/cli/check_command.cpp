// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"
#include "plan_json.h"
#include "spec_options.h"

#include <fmt/format.h>
#include <memory>

#include <assay/session/session.h>

namespace assay::cli {
namespace {

struct CheckArguments {
  SpecArguments spec;
  bool json = false;
};

Result<int> check(const CheckArguments& args, const Context& context) {
  const ReadSpec read = read_spec(args.spec, context);
  const session::Plan plan = session::make_plan(read.spec);
  const auto errors = errors_of(read, plan);
  if (args.json) {
    fmt::print("{}\n", plan_json(read, plan));
    return errors.empty() ? kDone : exit_code(all_of(errors));
  }
  if (read.errors.empty()) fmt::print("{}", session::describe_plan(read.spec, plan));
  if (!errors.empty()) return fail(all_of(errors));
  return kDone;
}

}  // namespace

void add_check_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "check", "Print what would run, and every error, without starting anything");
  command->footer(
      "\nExit codes: 0 all is well, 2 the spec has errors, 4 this machine cannot run it.\n");
  auto args = std::make_shared<CheckArguments>();
  add_spec_options(*command, args->spec);
  command->add_flag("--json", args->json, "Print the plan and the errors as JSON");
  command->callback(
      [args, &context] { context.action = [args, &context] { return check(*args, context); }; });
}

}  // namespace assay::cli
