// SPDX-License-Identifier: Apache-2.0
#include "remote_interval.h"
#include "spec_checks.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/launch/dataset.h>
#include <assay/launch/jobs.h>
#include <assay/launch/launcher.h>
#include <assay/session/session.h>

namespace assay::session {
namespace {

namespace fs = std::filesystem;

/// As the launcher will look for it: by path when it has a slash, else along the app's own PATH.
bool command_exists(const Target& target, const fs::path& workdir) {
  const std::string& command = target.command.front();
  if (command.find('/') != std::string::npos) return is_executable(workdir / command);
  const auto own = target.env.find("PATH");
  const char* ours = std::getenv("PATH");
  std::string_view path = ours != nullptr ? ours : "/usr/bin:/bin";
  if (own != target.env.end()) path = own->second;
  return is_in_path(command, path, workdir);
}

/// A script that lacks only the permission to be run is most often meant for its interpreter.
std::string why_not_found(const std::string& command, const fs::path& workdir) {
  std::error_code error;
  if (command.find('/') == std::string::npos || !fs::is_regular_file(workdir / command, error))
    return fmt::format("no such command: {}; install it, or give its path", masked_text(command));
  std::string_view program;
  if (command.ends_with(".py")) program = "python3";
  if (command.ends_with(".sh")) program = "sh";
  return fmt::format("{0} is not executable; run chmod +x {0}{1}", command,
                     program.empty() ? "" : fmt::format(", or say {} {}", program, command));
}

/// Collects what stands in the way of one target, with the place where it is written.
class Obstacles {
 public:
  Obstacles(const Spec& spec, size_t index, bool own_cgroup, Plan& plan)
      : target_(spec.targets[index]), own_cgroup_(own_cgroup), plan_(plan), errors_(plan.errors) {
    if (index < spec.places.size()) places_ = spec.places[index];
    if (spec.targets.size() > 1) prefix_ = fmt::format("target {}: ", index + 1);
  }

  void find() {
    if (target_.runtime == "kubernetes") return find_for_job();
    if (!target_.image.empty()) return find_for_container();
    find_files();
    if (!own_cgroup_ && !target_.limits.empty()) {
      return add("resources", ErrorKind::input,
                 "limits need a control group: drop --no-cgroup (ASSAY_NO_CGROUP), or the limits "
                 "(--cpus, --memory, --pids, resources)");
    }
    if (const auto can = launch::try_limits(target_.limits); !can) {
      add("resources", can.error().kind, can.error().message);
    }
  }

 private:
  void find_for_container() {
    find_dataset();
    if (!plan_.containers) {
      auto found = launch::find_containers();
      if (!found) return add("image", found.error().kind, found.error().message);
      plan_.containers = std::move(*found);
    }
    for (const auto& obstacle : plan_.containers->obstacles(target_))
      add(obstacle.key, obstacle.error.kind, obstacle.error.message);
  }

  void find_for_job() {
    if (!plan_.jobs)
      return add("runtime", ErrorKind::input,
                 "kubernetes is for `assay run`, which knows the cluster (--kubeconfig)");
    for (const auto& obstacle : plan_.jobs->obstacles(target_))
      add(obstacle.key, obstacle.error.kind, obstacle.error.message);
  }

  void find_dataset() {
    if (target_.dataset.empty()) return;
    const auto there = launch::check_dataset({target_.dataset, target_.dataset_sha256});
    if (!there) add("dataset", there.error().kind, there.error().message);
  }

  void find_files() {
    std::error_code error;
    const fs::path workdir =
        target_.workdir.empty() ? fs::current_path(error) : fs::path(target_.workdir);
    if (!fs::is_directory(workdir, error)) {
      add("workdir", ErrorKind::input,
          fmt::format("the folder to run in does not exist: {}", workdir.native()));
    } else if (!target_.command.empty() && !command_exists(target_, workdir)) {
      add("command", ErrorKind::input, why_not_found(target_.command.front(), workdir));
    }
    find_dataset();
  }

  /// Targets that share a default also share its error.
  void add(const std::string& key, ErrorKind kind, const std::string& message) {
    const auto place = places_.find(key);
    Diagnostic found = {"", 0, prefix_ + message, kind};
    if (place != places_.end()) found = {place->second.file, place->second.line, message, kind};
    const bool known = std::any_of(errors_.begin(), errors_.end(),
                                   [&](const Diagnostic& d) { return d.text() == found.text(); });
    if (!known) errors_.push_back(std::move(found));
  }

  const Target& target_;
  bool own_cgroup_;
  Plan& plan_;
  std::vector<Diagnostic>& errors_;
  Places places_;
  std::string prefix_;
};

std::string describe_limits(const Limits& limits, bool in_cluster) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (limits.cpus)
    add(fmt::format("{} core{}", format_number(*limits.cpus), *limits.cpus == 1 ? "" : "s"));
  if (limits.memory_bytes) {
    add(fmt::format("{} of memory", format_bytes(static_cast<double>(*limits.memory_bytes))));
  }
  if (limits.pids)
    add(fmt::format("{} processes{}", *limits.pids,
                    in_cluster ? " (not applied: a cluster has none for single Jobs)" : ""));
  if (!limits.gpus.empty()) add(gpus_text(limits));
  if (!limits.network.empty()) add("a network of " + link_text(limits.network));
  return text.empty() ? "none" : text;
}

std::string describe_stream(const Stream& stream) {
  std::string text = fmt::format("{}: {}", stream.id, to_string(stream.kind));
  if (stream.kind != StreamKind::audio)
    text += fmt::format(" at {} fps", format_number(stream.frames_per_second));
  if (!stream.files.empty()) text += " of " + stream.files;
  return text + (stream.loop ? "" : ", once");
}

std::string describe_need(const Need& need) {
  std::string text = fmt::format("{}: {}", need.name, need.image);
  if (!need.command.empty()) text += " " + join_words(need.command);
  std::string sign;
  if (need.ready_port) sign = fmt::format("port {}", *need.ready_port);
  if (!need.ready_log.empty())
    sign += fmt::format("{}\"{}\" in its log", sign.empty() ? "" : " and ", need.ready_log);
  if (sign.empty()) return text;
  return text + fmt::format(", awaited by {} for {}", sign, format_duration(need.ready_timeout));
}

/// What an image gets beside itself.
std::string describe_company(const Target& shown) {
  std::string text;
  if (shown.runtime != "auto") text += fmt::format("  runtime   {}\n", shown.runtime);
  if (!shown.docker_args.empty())
    text += fmt::format("  docker    {}\n", join_words(shown.docker_args));
  if (!shown.dataset.empty()) {
    const std::string& sum = shown.dataset_sha256;
    text += fmt::format("  dataset   {}{}\n", shown.dataset,
                        sum.empty() ? "" : fmt::format(" (sha256 {})", sum));
  }
  for (const auto& stream : shown.playback)
    text += fmt::format("  playback  {}\n", describe_stream(stream));
  for (const auto& need : shown.needs) text += fmt::format("  needs     {}\n", describe_need(need));
  return text;
}

std::string describe_measures(const Target& shown) {
  const bool elsewhere = shown.runtime == "kubernetes";
  std::string metrics;
  for (const auto& m : shown.metrics) {
    metrics += (metrics.empty() ? "" : ", ") + m;
    if (!in_this_version(m)) metrics += " (not in this version)";
    if (elsewhere && m == "power") metrics += " (not by agents)";
  }
  if (!elsewhere) return fmt::format("{} every {}", metrics, format_duration(shown.interval));
  const Nanoseconds interval = remote_interval(shown.interval);
  return fmt::format("{} every {}, by the agent of its node{}", metrics, format_duration(interval),
                     interval > shown.interval ? " (no shorter interval is possible there)" : "");
}

std::string describe_target(const Target& target, size_t number) {
  const Target shown = masked(target);
  std::string text = fmt::format("target {}{}: {}\n", number,
                                 shown.name.empty() ? "" : fmt::format(" ({})", shown.name),
                                 join_words(shown.command));
  if (!shown.image.empty()) text += fmt::format("  image     {}\n", shown.image);
  if (!shown.workdir.empty()) text += fmt::format("  in        {}\n", shown.workdir);
  text += describe_company(shown);
  text += fmt::format("  for       {}{}\n",
                      shown.timeout == Nanoseconds(0) ? "as long as it runs"
                                                      : "at most " + format_duration(shown.timeout),
                      shown.repeat > 1 ? fmt::format(", {} times", shown.repeat) : "");
  if (shown.warmup > Nanoseconds(0)) {
    text +=
        fmt::format("  warm-up   {} (left out of the numbers)\n", format_duration(shown.warmup));
  }
  text +=
      fmt::format("  limits    {}\n", describe_limits(shown.limits, shown.runtime == "kubernetes"));
  text += fmt::format("  measures  {}\n", describe_measures(shown));
  for (const auto& goal : shown.goals) text += fmt::format("  goal      {}\n", goal.text);
  for (const auto& [name, value] : shown.env)
    text += fmt::format("  env       {}={}\n", name, value);
  return text;
}

}  // namespace

Plan make_plan(const Spec& spec, bool own_cgroup, std::shared_ptr<launch::Jobs> jobs) {
  Plan plan;
  plan.longest = Nanoseconds(0);
  const auto elsewhere = std::count_if(spec.targets.begin(), spec.targets.end(),
                                       [](const Target& t) { return t.runtime == "kubernetes"; });
  if (elsewhere > 0) plan.jobs = std::move(jobs);
  // A session is about one device.
  if (elsewhere > 0 && static_cast<size_t>(elsewhere) < spec.targets.size())
    plan.errors.push_back({"", 0,
                           "some targets are for kubernetes and others for this machine; give all "
                           "the same with --runtime",
                           ErrorKind::input});
  for (size_t t = 0; t < spec.targets.size(); ++t) {
    const Target& target = spec.targets[t];
    Obstacles(spec, t, own_cgroup, plan).find();
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
  if (plan.containers) text += fmt::format("images run in {}\n", plan.containers->engine());
  for (size_t t = 0; t < spec.targets.size(); ++t)
    text += "\n" + describe_target(spec.targets[t], t + 1);
  return text;
}

Json plan_document(const Spec& spec, const Plan& plan) {
  Json json = {{"app", to_json(spec.app)}, {"runs", plan.runs.size()}};
  if (plan.longest) json["longest_seconds"] = seconds(*plan.longest);
  json["targets"] = Json::array();
  for (const auto& target : spec.targets) {
    Target shown = masked(target);
    if (shown.runtime == "kubernetes") shown.interval = remote_interval(shown.interval);
    json["targets"].push_back(to_json(shown));
    if (target.runtime == "kubernetes" && target.limits.pids)
      json["targets"].back()["not_applied"] = {"limit of processes"};
  }
  return json;
}

}  // namespace assay::session
