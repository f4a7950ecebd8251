// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/problems.h>
#include <assay/base/result.h>
#include <assay/samples/records.h>

namespace assay::session {

using assay::Diagnostic;

/// Where something is written.
struct Place {
  std::string file;
  int line = 0;
};
/// By key of a target: "command" is in sage.yaml:12.
using Places = std::map<std::string, Place>;

/// What to profile: the app and every way to run it, all defaults filled in.
struct Spec {
  App app;
  std::vector<Target> targets;
  std::vector<Places> places;  ///< by target; none when it is not from a file
};

/// What the command line adds to or overrides in a spec; absent means "as the spec says".
struct Overrides {
  std::optional<Nanoseconds> timeout;
  std::optional<Nanoseconds> interval;
  std::optional<Nanoseconds> warmup;
  std::optional<Nanoseconds> grace;
  std::optional<int> repeat;
  std::optional<std::vector<std::string>> metrics;
  std::vector<std::string> goals;  ///< "fps >= 10"
  std::map<std::string, std::string> env;
  std::optional<std::string> cpus;  ///< limits, as written
  std::optional<std::string> memory;
  std::optional<std::string> pids;
  std::optional<std::string> gpus;
  std::optional<std::string> runtime;
  std::optional<std::string> docker_args;  ///< in place of the spec's, as one text
  std::optional<std::string> dataset;      ///< a path starts from the current folder
};

struct SpecResult {
  std::optional<Spec> spec;  ///< absent when there are errors
  std::vector<Diagnostic> errors;
  Spec draft;  ///< with errors: what could be read, to look for further ones
};

/// Reads an application's sage.yaml and, where given, the profiling section from a file of its own.
/// Collects every error instead of stopping at the first. What the command line says of the runtime
/// and the dataset decides how the rest is read; apply() must still follow.
SpecResult read_spec(const std::filesystem::path& file,
                     const std::optional<std::filesystem::path>& profile = std::nullopt,
                     const Overrides& overrides = {});
/// The same from text, for tests and fuzzing; `name` stands for the file in messages.
SpecResult parse_spec(const std::string& text, const std::string& name);
SpecResult parse_spec(const std::string& text, const std::string& name,
                      const std::string& profile_text, const std::string& profile_name);
/// `assay run -- COMMAND ARGS…`.
Spec spec_for_command(const std::vector<std::string>& command);
/// `assay run --profile FILE -- COMMAND ARGS…`: the file's section for this command, which wins
/// over those that the file names; the file's `args` follow it.
SpecResult spec_for_command(const std::vector<std::string>& command,
                            const std::filesystem::path& profile, const Overrides& overrides = {});
/// `assay run --pid PID`: named after the command that runs, without its secrets. A process that
/// has ended but is still listed is an error; one that is not there is left to whoever attaches.
Result<Spec> spec_for_process(pid_t pid, const SysRoot& root = SysRoot());
/// `assay run --container ID`.
Result<Spec> spec_for_container(const std::string& id);
/// `assay run IMAGE [--profile FILE]`.
SpecResult spec_for_image(const std::string& image,
                          const std::optional<std::filesystem::path>& profile,
                          const Overrides& overrides = {});

/// Applies the command line's options to every target. Errors name the option ("--goal: …").
Result<void> apply(const Overrides& overrides, Spec& spec);

/// What `metrics` may name: system, power, …
std::span<const std::string_view> metric_groups();

/// Values of names and patterns that look like secrets become "***": in env, arguments and URLs.
Target masked(const Target& target);
std::string masked_text(const std::string& text);
/// Also what the target's and its needs' secret variables hold: they repeat it in their messages.
std::string masked_text(std::string text, const Target& target);

}  // namespace assay::session
