// SPDX-License-Identifier: Apache-2.0
#include "spec_checks.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/samples/goal.h>
#include <assay/session/spec.h>

namespace assay::session {
namespace {

/// Applies options one by one, going on after a wrong one so that all errors show at once.
class Applier {
 public:
  Applier(const Overrides& overrides, std::vector<Target>& targets)
      : overrides_(overrides), targets_(targets) {}

  Result<void> apply() {
    set(overrides_.timeout, &Target::timeout);
    set(overrides_.warmup, &Target::warmup);
    set(overrides_.grace, &Target::grace);
    if (overrides_.interval) {
      set(take("interval", check_interval(*overrides_.interval)), &Target::interval);
    }
    if (overrides_.repeat) {
      set(take("repeat", check_repeat(*overrides_.repeat)), &Target::repeat);
    }
    if (overrides_.metrics) {
      set(take("metrics", check_metrics(*overrides_.metrics)), &Target::metrics);
    }
    apply_runtime();
    apply_docker_args();
    apply_dataset();
    apply_limits();
    apply_env();
    apply_goals();
    if (errors_.empty() && (overrides_.warmup || overrides_.timeout)) check_targets();
    if (errors_.empty()) return {};
    return bad_input(errors_);
  }

 private:
  void add_error(std::string_view option, const std::string& message) {
    if (!errors_.empty()) errors_ += '\n';
    errors_ += fmt::format("--{}: {}", option, message);
  }

  template <class T>
  std::optional<T> take(std::string_view option, Result<T> result) {
    if (result) return std::move(*result);
    add_error(option, result.error().message);
    return std::nullopt;
  }

  template <class T>
  void set(const std::optional<T>& value, T Target::*member) {
    if (!value) return;
    for (auto& target : targets_) target.*member = *value;
  }

  /// The value of an option that plain processes do not have.
  template <class T>
  T take_for_containers(std::string_view option, Result<T> result) {
    const bool all = std::none_of(targets_.begin(), targets_.end(),
                                  [](const Target& t) { return t.image.empty(); });
    if (result && !all) {
      add_error(option, "needs a container; name an image, or leave it out");
      return {};
    }
    return take(option, std::move(result)).value_or(T());
  }

  /// A spec from a file was already read with it.
  void apply_runtime() {
    if (!overrides_.runtime) return;
    const auto runtime = take("runtime", check_runtime(*overrides_.runtime));
    if (!runtime) return;
    for (auto& target : targets_) {
      if (target.runtime == *runtime) continue;
      if ((*runtime == "docker" || *runtime == "kubernetes") && target.image.empty())
        return add_error("runtime",
                         fmt::format("{} needs an image; name one instead of a command", *runtime));
      if (*runtime == "process" && !target.image.empty())
        return add_error("runtime", "process needs a command; give one instead of an image");
      target.runtime = *runtime;
    }
  }

  void apply_docker_args() {
    if (!overrides_.docker_args) return;
    auto words = split_words(*overrides_.docker_args);
    if (words) {
      if (auto valid = check_docker_args(*words); !valid) words = fail(std::move(valid).error());
    }
    const auto taken = take_for_containers("docker-args", std::move(words));
    for (auto& target : targets_) target.docker_args = taken;
  }

  void apply_dataset() {
    if (!overrides_.dataset) return;
    for (auto& target : targets_) {
      target.dataset = from_here(*overrides_.dataset);
      target.dataset_sha256.clear();
    }
  }

  void apply_limits() {
    Limits limits;
    if (overrides_.cpus) limits.cpus = take("cpus", parse_cpus(*overrides_.cpus));
    if (overrides_.memory) limits.memory_bytes = take("memory", parse_memory(*overrides_.memory));
    if (overrides_.pids) limits.pids = take("pids", parse_pids(*overrides_.pids));
    if (overrides_.gpus) limits.gpus = take_for_containers("gpus", parse_gpus(*overrides_.gpus));
    for (auto& target : targets_) {
      if (limits.cpus) target.limits.cpus = limits.cpus;
      if (limits.memory_bytes) target.limits.memory_bytes = limits.memory_bytes;
      if (limits.pids) target.limits.pids = limits.pids;
      if (!limits.gpus.empty()) target.limits.gpus = limits.gpus;
    }
  }

  void apply_env() {
    for (const auto& [name, value] : overrides_.env) {
      if (const auto valid = check_env_name(name); !valid) {
        add_error("env", valid.error().message);
        continue;
      }
      for (auto& target : targets_) target.env[name] = value;
    }
  }

  void apply_goals() {
    std::vector<Goal> goals;
    for (const auto& text : overrides_.goals) {
      if (auto goal = take("goal", parse_goal(text))) goals.push_back(std::move(*goal));
    }
    for (auto& target : targets_) merge_goals(target.goals, goals);
  }

  void check_targets() {
    for (const auto& target : targets_) {
      if (const auto valid = check_target(target); !valid) {
        add_error(overrides_.warmup ? "warmup" : "timeout", valid.error().message);
        return;
      }
    }
  }

  const Overrides& overrides_;
  std::vector<Target>& targets_;
  std::string errors_;
};

}  // namespace

Result<void> apply(const Overrides& overrides, Spec& spec) {
  auto targets = spec.targets;
  ASSAY_CHECK(Applier(overrides, targets).apply());
  spec.targets = std::move(targets);
  for (auto& places : spec.places) {
    if (overrides.cpus || overrides.memory || overrides.pids || overrides.gpus)
      places.erase("resources");
    if (overrides.runtime) places.erase("runtime");
    if (overrides.docker_args) places.erase("docker_args");
    if (overrides.dataset) places.erase("dataset");
  }
  return {};
}

}  // namespace assay::session
