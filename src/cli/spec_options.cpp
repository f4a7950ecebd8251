// SPDX-License-Identifier: Apache-2.0
#include "spec_options.h"

#include <filesystem>
#include <fmt/format.h>

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

/// A spec is a file, a folder with a sage.yaml, or anything that is spelled like one.
std::optional<fs::path> as_spec_file(const std::string& what) {
  std::error_code error;
  if (fs::is_directory(what, error)) return fs::path(what) / "sage.yaml";
  if (fs::exists(what, error) || what.ends_with(".yaml") || what.ends_with(".yml")) return what;
  return std::nullopt;
}

std::optional<fs::path> optional_path(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<fs::path>(text);
}

Result<session::Spec> base_spec(const SpecArguments& args, const std::vector<std::string>& command,
                                int pid) {
  if (pid != 0) return session::spec_for_command({fmt::format("pid-{}", pid)});
  if (!command.empty()) {
    if (!args.what.empty())
      return bad_input(fmt::format("give either {} or a command behind --, not both", args.what));
    return session::spec_for_command(command);
  }
  if (args.what.empty()) {
    return bad_input(
        "nothing to profile; give a spec (sage.yaml), an image, or a command behind --");
  }
  const auto file = as_spec_file(args.what);
  session::SpecResult result =
      file ? session::read_spec(*file, optional_path(args.profile))
           : session::spec_for_image(args.what, optional_path(args.profile));
  if (result.spec) return std::move(*result.spec);
  std::vector<Error> errors;
  for (const auto& diagnostic : result.errors)
    errors.push_back({ErrorKind::input, diagnostic.text()});
  return fail(all_of(errors));
}

Result<std::optional<Nanoseconds>> duration_option(const char* name, const std::string& text) {
  if (text.empty()) return std::optional<Nanoseconds>();
  auto parsed = parse_duration(text);
  if (!parsed) return bad_input(fmt::format("{}: {}", name, parsed.error().message));
  return std::optional<Nanoseconds>(*parsed);
}

std::optional<std::string> text_option(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

Result<session::Overrides> overrides(const SpecArguments& args) {
  session::Overrides result;
  ASSAY_TRY(result.timeout, duration_option("--timeout", args.timeout));
  ASSAY_TRY(result.interval, duration_option("--interval", args.interval));
  ASSAY_TRY(result.warmup, duration_option("--warmup", args.warmup));
  ASSAY_TRY(result.grace, duration_option("--grace", args.grace));
  if (args.repeat != 0) result.repeat = args.repeat;
  if (!args.metrics.empty()) result.metrics = args.metrics;
  result.goals = args.goals;
  for (const auto& pair : args.env) {
    const size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return bad_input(fmt::format("--env: '{}' is not of the form NAME=VALUE", pair));
    }
    result.env[pair.substr(0, equals)] = pair.substr(equals + 1);
  }
  result.cpus = text_option(args.cpus);
  result.memory = text_option(args.memory);
  result.pids = text_option(args.pids);
  return result;
}

}  // namespace

void add_spec_options(CLI::App& command, SpecArguments& args) {
  const auto option = [&command](const char* name, auto& value, const char* help,
                                 const char* type) {
    command.add_option(name, value, help)->type_name(type)->group("What to run");
  };
  command.add_option("spec", args.what, "The application's sage.yaml (or its folder), or an image")
      ->type_name("SPEC|IMAGE");
  option("--profile", args.profile,
         "A file with the profiling section to use instead of the spec's own", "FILE");
  option("--timeout", args.timeout, "Stop each run after this time; 0: when it exits by itself",
         "DURATION");
  option("--interval", args.interval, "Time between samples (default 100ms)", "DURATION");
  option("--warmup", args.warmup, "Leave this much of the start out of the numbers", "DURATION");
  option("--grace", args.grace, "Wait between asking the app to stop and insisting (default 10s)",
         "DURATION");
  option("--repeat", args.repeat, "Runs of each target", "N");
  option("--goal", args.goals, "What must be reached, as in 'fps >= 10' or 'latency.p95 <= 200ms'",
         "GOAL");
  option("--env", args.env, "An environment variable for the app", "NAME=VALUE");
  option("--cpus", args.cpus, "Run under a limit of this many cores", "N");
  option("--memory", args.memory, "Run under this memory limit, as in 512MB", "SIZE");
  option("--pids", args.pids, "Run under this limit of processes and threads", "N");
  command.add_option("--metrics", args.metrics, "What to measure: system, power (default: both)")
      ->type_name("A,B")
      ->delimiter(',')
      ->group("What to run");
}

Result<session::Spec> read_spec(const SpecArguments& args, const std::vector<std::string>& command,
                                int pid) {
  ASSAY_TRY(session::Spec spec, base_spec(args, command, pid));
  ASSAY_TRY(const session::Overrides extra, overrides(args));
  ASSAY_CHECK(session::apply(extra, spec));
  return spec;
}

Error all_of(const std::vector<Error>& errors) {
  Error all{ErrorKind::input, ""};
  for (const auto& error : errors) {
    if (error.kind != ErrorKind::input) all.kind = error.kind;
    all.message += (all.message.empty() ? "" : "\nassay: ") + error.message;
  }
  return all;
}

}  // namespace assay::cli
