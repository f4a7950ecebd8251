// SPDX-License-Identifier: Apache-2.0
#include "spec_options.h"

#include "duration_option.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <limits>

#include <assay/base/files.h>
#include <assay/base/text.h>

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

using Errors = std::vector<session::Diagnostic>;

bool has_yaml_name(const std::string& what) {
  return what.ends_with(".yaml") || what.ends_with(".yml");
}

/// A spec is a file, a folder with a sage.yaml, or anything that is spelled like one.
std::optional<fs::path> as_spec_file(const std::string& what) {
  std::error_code error;
  if (fs::is_directory(what, error)) return fs::path(what) / "sage.yaml";
  if (fs::exists(what, error) || has_yaml_name(what)) return what;
  return std::nullopt;
}

/// How a command that begins with this word would begin; empty when it is no command.
std::vector<std::string> start_of_command(const std::string& word) {
  std::error_code error;
  const bool in_here = word.find('/') == std::string::npos;
  const char* path = std::getenv("PATH");
  if (in_here && is_in_path(word, path != nullptr ? path : "")) return {word};
  if (!fs::is_regular_file(word, error)) return {};
  if (is_executable(word)) return {in_here ? "./" + word : word};
  if (word.ends_with(".py")) return {"python3", word};
  if (word.ends_with(".sh")) return {"sh", word};
  return {word};
}

std::optional<fs::path> optional_path(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<fs::path>(text);
}

void add(Errors& errors, std::string message) {
  errors.push_back({"", 0, std::move(message), ErrorKind::input});
}

/// Whether what is named can only be an image, also where a program has that name.
bool takes_image(const std::string& runtime) {
  return runtime == "docker" || runtime == "kubernetes";
}

ReadSpec from_argument(const SpecArguments& args, const session::Overrides& extra,
                       const Context& context) {
  const auto file = as_spec_file(args.what);
  const auto meant =
      takes_image(args.runtime) ? std::nullopt : forgotten_dashes(args.what, context);
  if (meant && !file) return {{}, {{"", 0, *meant, ErrorKind::input}}};
  session::SpecResult result =
      file ? session::read_spec(*file, optional_path(args.profile), extra)
           : session::spec_for_image(args.what, optional_path(args.profile), extra);
  if (result.spec) return {std::move(*result.spec), {}};
  if (meant) return {{}, {{"", 0, *meant, ErrorKind::input}}};
  return {std::move(result.draft), std::move(result.errors)};
}

ReadSpec from_command(const SpecArguments& args, const session::Overrides& extra,
                      const std::vector<std::string>& command) {
  if (args.profile.empty()) return {session::spec_for_command(command), {}};
  session::SpecResult result = session::spec_for_command(command, args.profile, extra);
  if (result.spec) return {std::move(*result.spec), {}};
  return {std::move(result.draft), std::move(result.errors)};
}

bool are_images(const session::Spec& spec) {
  return std::all_of(spec.targets.begin(), spec.targets.end(),
                     [](const Target& target) { return !target.image.empty(); });
}

/// `assay run IMAGE -- ARGS…`: as `docker run IMAGE ARGS…` would.
ReadSpec from_both(const SpecArguments& args, const session::Overrides& extra,
                   const Context& context) {
  ReadSpec read = from_argument(args, extra, context);
  if (!read.errors.empty()) return read;
  if (are_images(read.spec)) {
    for (auto& target : read.spec.targets) target.command = context.behind_dashes;
  } else {
    add(read.errors, fmt::format("give either {} or a command behind --, not both", args.what));
  }
  return read;
}

ReadSpec base_spec(const SpecArguments& args, const session::Overrides& extra,
                   const Context& context) {
  const auto& command = context.behind_dashes;
  if (!command.empty())
    return args.what.empty() ? from_command(args, extra, command) : from_both(args, extra, context);
  if (!args.what.empty()) return from_argument(args, extra, context);
  ReadSpec read;
  add(read.errors, "nothing to profile; give a spec (sage.yaml), an image, or a command behind --");
  return read;
}

std::optional<Nanoseconds> duration_option(const char* name, const std::string& text,
                                           Errors& errors) {
  if (text.empty()) return std::nullopt;
  const auto parsed = duration_of(name, text);
  if (parsed) return *parsed;
  add(errors, parsed.error().message);
  return std::nullopt;
}

std::optional<std::string> text_option(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

session::Overrides overrides(const SpecArguments& args, Errors& errors) {
  session::Overrides result;
  result.timeout = duration_option("--timeout", args.timeout, errors);
  result.interval = duration_option("--interval", args.interval, errors);
  result.warmup = duration_option("--warmup", args.warmup, errors);
  result.grace = duration_option("--grace", args.grace, errors);
  if (args.repeat) result.repeat = *args.repeat;
  if (!args.metrics.empty()) result.metrics = args.metrics;
  result.goals = args.goals;
  for (const auto& pair : args.env) {
    const size_t equals = pair.find('=');
    if (equals == 0 || equals == std::string::npos) {
      add(errors,
          fmt::format("--env: '{}' is not of the form NAME=VALUE", session::masked_text(pair)));
    } else {
      result.env[pair.substr(0, equals)] = pair.substr(equals + 1);
    }
  }
  result.cpus = text_option(args.cpus);
  result.memory = text_option(args.memory);
  result.pids = text_option(args.pids);
  result.gpus = text_option(args.gpus);
  result.runtime = text_option(args.runtime);
  result.docker_args = text_option(args.docker_args);
  result.dataset = text_option(args.dataset);
  return result;
}

/// A message of several lines is several errors.
void add_lines(Errors& errors, const Error& error) {
  std::string_view rest = error.message;
  while (!rest.empty()) {
    errors.push_back({"", 0, std::string(next_field(rest, '\n')), error.kind});
  }
}

void apply_options(const session::Overrides& extra, ReadSpec& read) {
  if (const auto applied = session::apply(extra, read.spec); !applied)
    add_lines(read.errors, applied.error());
}

/// What already runs has got its command, environment and limits from somebody else.
void refuse_what_needs_a_start(std::string_view option, const SpecArguments& args,
                               const Context& context, Errors& errors) {
  const auto refuse = [&](bool given, std::string_view name, std::string_view why) {
    if (given) add(errors, fmt::format("{} does not go with {}{}", name, option, why));
  };
  if (!args.what.empty())
    add(errors, fmt::format("give either {} or {}, not both", option, args.what));
  if (!context.behind_dashes.empty())
    add(errors, fmt::format("give either {} or a command behind --, not both", option));
  refuse(!args.profile.empty(), "--profile", "; give options instead");
  refuse(!args.timeout.empty(), "--timeout", ", which stops nothing; say --for");
  refuse(!args.grace.empty(), "--grace", ", which stops nothing");
  refuse(args.repeat.has_value(), "--repeat", ", which starts nothing");
  refuse(!args.env.empty(), "--env", ", which starts nothing");
  refuse(!args.runtime.empty(), "--runtime", ", which starts nothing");
  refuse(!args.docker_args.empty(), "--docker-args", ", which starts nothing");
  refuse(!args.dataset.empty(), "--dataset", ", which starts nothing");
  for (const auto& [name, value] : {std::pair("--cpus", &args.cpus),
                                    {"--memory", &args.memory},
                                    {"--pids", &args.pids},
                                    {"--gpus", &args.gpus}}) {
    refuse(!value->empty(), name, ": limits cannot be put on what already runs");
  }
}

Result<session::Spec> spec_of_running(const ProcessArguments& process, ReadProcess& result) {
  if (!process.pid.empty() && !process.container.empty())
    return bad_input("give either --pid or --container, not both");
  if (process.pid.empty()) {
    result.container = process.container;
    return session::spec_for_container(process.container);
  }
  const auto pid = parse_int(process.pid);
  if (!pid || *pid < 1 || *pid > std::numeric_limits<pid_t>::max())
    return bad_input(fmt::format("--pid wants a process id, not '{}'", process.pid));
  result.pid = static_cast<pid_t>(*pid);
  return session::spec_for_process(result.pid);
}

}  // namespace

void add_spec_options(CLI::App& command, SpecArguments& args) {
  const auto option = [&command](const char* name, auto& value, const char* help,
                                 const char* type) {
    // One value each, also where it may be repeated: the word behind it is the spec.
    command.add_option(name, value, help)
        ->type_name(type)
        ->allow_extra_args(false)
        ->group("What to run");
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
  option("--gpus", args.gpus, "Give the container these GPUs: all, a number, or ids as in 0,1",
         "GPUS");
  option("--runtime", args.runtime,
         "auto, process, docker or kubernetes (default auto: docker for an image)", "NAME");
  option("--docker-args", args.docker_args, "What else `docker run` would be told, as one text",
         "TEXT");
  option("--dataset", args.dataset, "What the app reads: a path, an https:// or s3:// address",
         "SOURCE");
  command
      .add_option("--metrics", args.metrics,
                  "What to measure: system, power (default: both); stacks, gpu-summary and "
                  "gpu-kernels are accepted, but not in this version")
      ->type_name("A,B")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group("What to run");
}

ReadSpec read_spec(const SpecArguments& args, const Context& context) {
  Errors wrong;
  const session::Overrides extra = overrides(args, wrong);
  ReadSpec read = base_spec(args, extra, context);
  read.errors.insert(read.errors.end(), wrong.begin(), wrong.end());
  apply_options(extra, read);
  return read;
}

ReadProcess read_process(const ProcessArguments& process, const SpecArguments& args,
                         const Context& context) {
  ReadProcess result;
  ReadSpec& read = result.read;
  const char* option = process.pid.empty() ? "--container" : "--pid";
  refuse_what_needs_a_start(option, args, context, read.errors);
  auto spec = spec_of_running(process, result);
  if (!spec) {
    read.errors.push_back({"", 0, spec.error().message, spec.error().kind});
    return result;
  }
  read.spec = std::move(*spec);
  if (const auto duration = duration_option("--for", process.duration, read.errors))
    read.spec.targets.front().timeout = *duration;
  session::Overrides extra = overrides(args, read.errors);
  extra.runtime = extra.docker_args = extra.gpus = std::nullopt;  // refused above
  apply_options(extra, read);
  return result;
}

Error all_of(const std::vector<session::Diagnostic>& errors) {
  Error all{ErrorKind::input, ""};
  const bool any_input = std::any_of(errors.begin(), errors.end(), [](const auto& error) {
    return error.kind == ErrorKind::input;
  });
  for (const auto& error : errors) {
    if (!any_input) all.kind = error.kind;
    all.message += (all.message.empty() ? "" : "\n") + error.text();
  }
  return all;
}

std::optional<std::string> forgotten_dashes(const std::string& what, const Context& context) {
  if (has_yaml_name(what)) return std::nullopt;
  const auto start = start_of_command(what);
  const auto& words = context.words;
  const auto at = std::find(words.begin(), words.end(), what);
  if (start.empty() || at == words.end()) return std::nullopt;
  std::vector<std::string> meant(words.begin(), at);
  meant.emplace_back("--");
  meant.insert(meant.end(), start.begin(), start.end());
  meant.insert(meant.end(), at + 1, words.end());
  return fmt::format("{} is not a spec (sage.yaml); did you mean: {}", what, join_words(meant));
}

}  // namespace assay::cli
