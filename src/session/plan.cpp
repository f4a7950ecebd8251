// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <assay/base/text.h>
#include <assay/session/session.h>

namespace assay::session {
namespace {

namespace fs = std::filesystem;

bool executable(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

/// As the launcher will look for it: by path when it has a slash, else along PATH.
bool command_exists(const std::string& command, const fs::path& workdir) {
  if (command.find('/') != std::string::npos) return executable(workdir / command);
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    if (executable(fs::path(next_field(rest, ':')) / command)) return true;
  }
  return false;
}

Result<void> look_for_obstacles(const Target& target) {
  if (!target.image.empty()) {
    return refused(fmt::format(
        "image {} needs a container runtime, which this version does not have yet; give "
        "`command:` in the spec, or run `assay run -- COMMAND`, to profile it as a process",
        target.image));
  }
  if (target.command.empty())
    return bad_input("there is no command to run; give `command:` in the spec");
  std::error_code error;
  const fs::path workdir =
      target.workdir.empty() ? fs::current_path(error) : fs::path(target.workdir);
  if (!fs::is_directory(workdir, error)) {
    return bad_input(fmt::format("the folder to run in does not exist: {}", workdir.native()));
  }
  if (!command_exists(target.command.front(), workdir)) {
    return bad_input(
        fmt::format("no such command: {}; install it, or give its path", target.command.front()));
  }
  if (!target.dataset.empty() && !fs::exists(target.dataset, error)) {
    return bad_input(fmt::format("the dataset does not exist: {}", target.dataset));
  }
  return {};
}

std::string describe_limits(const Limits& limits) {
  if (limits.empty()) return "none";
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (limits.cpus) add(fmt::format("{} cores", format_number(*limits.cpus)));
  if (limits.memory_bytes) {
    add(fmt::format("{} of memory", format_bytes(static_cast<double>(*limits.memory_bytes))));
  }
  if (limits.pids) add(fmt::format("{} processes", *limits.pids));
  return text;
}

std::string describe_target(const Target& target, size_t number) {
  const Target shown = masked(target);
  std::string text = fmt::format("target {}: {}\n", number, join_words(shown.command));
  if (!shown.image.empty()) text += fmt::format("  image     {}\n", shown.image);
  if (!shown.workdir.empty()) text += fmt::format("  in        {}\n", shown.workdir);
  text += fmt::format("  for       {}{}\n",
                      shown.timeout == Nanoseconds(0) ? "as long as it runs"
                                                      : "at most " + format_duration(shown.timeout),
                      shown.repeat > 1 ? fmt::format(", {} times", shown.repeat) : "");
  if (shown.warmup > Nanoseconds(0)) {
    text +=
        fmt::format("  warm-up   {} (left out of the numbers)\n", format_duration(shown.warmup));
  }
  text += fmt::format("  limits    {}\n", describe_limits(shown.limits));
  std::string metrics;
  for (const auto& m : shown.metrics) metrics += (metrics.empty() ? "" : ", ") + m;
  text += fmt::format("  measures  {} every {}\n", metrics, format_duration(shown.interval));
  for (const auto& goal : shown.goals) text += fmt::format("  goal      {}\n", goal.text);
  for (const auto& [name, value] : shown.env)
    text += fmt::format("  env       {}={}\n", name, value);
  return text;
}

}  // namespace

Plan make_plan(const Spec& spec) {
  Plan plan;
  plan.longest = Nanoseconds(0);
  for (size_t t = 0; t < spec.targets.size(); ++t) {
    const Target& target = spec.targets[t];
    if (const auto free = look_for_obstacles(target); !free) {
      plan.errors.push_back(
          {free.error().kind, fmt::format("target {}: {}", t + 1, free.error().message)});
    }
    for (int r = 0; r < target.repeat; ++r) plan.runs.push_back({static_cast<int>(t), r});
    if (target.timeout == Nanoseconds(0)) plan.longest.reset();
    if (plan.longest) *plan.longest += target.timeout * target.repeat;
  }
  return plan;
}

std::string describe_plan(const Spec& spec, const Plan& plan) {
  std::string text =
      fmt::format("{}: {} run{}, {}\n", spec.app.full_name(), plan.runs.size(),
                  plan.runs.size() == 1 ? "" : "s",
                  plan.longest ? "at most " + format_duration(*plan.longest) + " in all"
                               : "until the app exits by itself");
  for (size_t t = 0; t < spec.targets.size(); ++t)
    text += "\n" + describe_target(spec.targets[t], t + 1);
  return text;
}

}  // namespace assay::session
