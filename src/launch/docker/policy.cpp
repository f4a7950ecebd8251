// SPDX-License-Identifier: Apache-2.0
#include "docker/policy.h"

#include "docker/docker_values.h"
#include "docker/mount_source.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <fnmatch.h>
#include <string_view>
#include <unistd.h>

namespace assay::launch {
namespace fs = std::filesystem;
namespace {

using Names = std::vector<std::string>;

/// What gives more than its name says and must be named.
bool must_be_named(std::string_view name) {
  return name == "host" || name == "ALL" || name.find(':') != name.npos;
}

bool matches(const std::string& pattern, const std::string& name) {
  if (pattern == name) return true;
  if (must_be_named(name) && pattern.find_first_of("*?[") == 0) return false;
  return ::fnmatch(pattern.c_str(), name.c_str(), FNM_PATHNAME) == 0;
}

bool allows(const Names& patterns, const std::string& name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return matches(pattern, name); });
}

/// Our own environment may hold what no app should see.
bool sounds_secret(std::string_view name) {
  constexpr std::array<std::string_view, 7> kWords = {"TOKEN", "SECRET", "PASS",  "CREDENTIAL",
                                                      "KEY",   "AUTH",   "COOKIE"};
  const std::string upper = capability_name(name);
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return upper.find(word) != upper.npos; });
}

/// Collects the sentences.
class Judge {
 public:
  Judge(const Policy& policy, const PolicyContext& context) : policy_(policy), context_(context) {
    if (!context.dataset.empty()) dataset_ = real_path(context.dataset);
  }

  void judge(const DockerArgs& args) {
    for (const auto& mount : args.mounts) judge_mount(mount);
    for (const auto& device : args.devices) judge_device(device);
    for (const auto& [name, value] : args.env) judge_env(name, args.env_taken_over);
    judge_or_usual("--network", args.network, {"default", "bridge"}, "networks", policy_.networks);
    judge_or_usual("--ipc", args.ipc, {"default", "private", "shareable"}, "ipc", policy_.ipc);
    judge_or_usual("--runtime", args.runtime, {"default", "runc", "crun"}, "runtimes",
                   policy_.runtimes);
    if (!args.pid.empty()) judge_name("--pid", args.pid, "pid", policy_.pid);
    for (const auto& name : args.cap_add)
      judge_name("--cap-add", name, "capabilities", policy_.capabilities);
    for (const auto& name : args.security)
      judge_name("--security-opt", name, "security", policy_.security);
    if (args.privileged && !policy_.privileged)
      refuse("--privileged", "gives the app the whole machine", "privileged");
    if (!args.gpus.empty() && !policy_.gpus)
      refuse("--gpus " + args.gpus, "no spec may use GPUs", "gpus");
  }

  void judge_env(const std::string& name, const Names& taken_over) {
    const bool ours = std::find(taken_over.begin(), taken_over.end(), name) != taken_over.end();
    const bool named = std::find(policy_.env.begin(), policy_.env.end(), name) != policy_.env.end();
    if (!allows(policy_.env, name)) {
      refuse("-e " + in_quotes(name), "it is not among those allowed", "env");
    } else if (ours && sounds_secret(name) && !named) {
      refuse("-e " + in_quotes(name), "it would hand what sounds like a secret of ours to the app",
             "env", "give a value of its own");
    }
  }

  /// One that is not there is told elsewhere.
  void judge_dataset() {
    if (!dataset_) return;
    const std::string trouble = why_no_dataset(*dataset_, context_.engine_sockets);
    const auto fits = [&](const std::string& path) {
      const fs::path allowed = real_or_clean_path(path);
      if (trouble.empty()) return is_within(*dataset_, allowed);
      return *dataset_ == allowed && allowed != "/";
    };
    if (std::any_of(policy_.datasets.begin(), policy_.datasets.end(), fits)) return;
    refuse("dataset " + in_quotes(context_.dataset.native()),
           which(context_.dataset, *dataset_) + (trouble.empty()
                                                     ? "is outside of every folder that is allowed"
                                                     : "cannot be a dataset: " + trouble),
           "datasets", "copy what the app needs into a folder of its own");
  }

  std::vector<std::string> take() { return std::move(sentences_); }

 private:
  /// "rule networks of policy /etc/assay/policy.yaml:7".
  std::string rule(const std::string& key) const {
    if (policy_.file.empty()) return fmt::format("rule {} of the built-in policy", key);
    const auto line = policy_.lines.find(key);
    if (line != policy_.lines.end())
      return fmt::format("rule {} of policy {}:{}", key, policy_.file.native(), line->second);
    return fmt::format("built-in rule {}, on which policy {} says nothing", key,
                       policy_.file.native());
  }

  void refuse(const std::string& what, const std::string& why, const std::string& key,
              const std::string& instead = "leave it out") {
    const std::string file =
        policy_.file.empty() ? "/etc/assay/policy.yaml" : policy_.file.native();
    sentences_.push_back(
        fmt::format("{}: refused by {}: {}; {}, or ask this machine's operator to "
                    "allow it in {}",
                    what, rule(key), why, instead, file));
  }

  void judge_name(const std::string& option, const std::string& name, const std::string& key,
                  const Names& allowed) {
    if (allows(allowed, name)) return;
    refuse(fmt::format("{} {}", option, in_quotes(name)), "it is not among those allowed", key);
  }

  /// Without a name the engine takes what is usual, which has several names.
  void judge_or_usual(const std::string& option, const std::string& name, const Names& usual,
                      const std::string& key, const Names& allowed) {
    if (!name.empty() && name != "default") return judge_name(option, name, key, allowed);
    if (std::any_of(usual.begin(), usual.end(),
                    [&](const std::string& each) { return allows(allowed, each); }))
      return;
    refuse("no " + option, fmt::format("the usual one ({}) is not among those allowed", usual[1]),
           key, fmt::format("choose with {} one that is", option));
  }

  void judge_device(const DeviceArg& device) {
    const std::string what = "--device " + in_quotes(device.source);
    const auto real = real_path(device.source);
    if (!real) {
      refuse(what, "it does not exist on this machine", "devices");
      return;
    }
    const bool allowed = std::any_of(
        policy_.devices.begin(), policy_.devices.end(), [&](const std::string& pattern) {
          return matches(pattern, real->native()) || real_or_clean_path(pattern) == *real;
        });
    if (!allowed)
      refuse(what, which(device.source, *real) + "is not among those allowed", "devices");
  }

  /// "it " or, behind links, "/run/docker.sock, to which it leads, ".
  static std::string which(const std::string& source, const fs::path& real) {
    return real == source ? "it "
                          : fmt::format("{}, to which it leads, ", in_quotes(real.native()));
  }

  void judge_mount(const Mount& mount) {
    if (mount.kind == MountKind::volume && !mount.source.empty())
      judge_name("-v", mount.source, "volumes", policy_.volumes);
    if (mount.kind == MountKind::bind) judge_bind(mount);
  }

  void judge_bind(const Mount& mount) {
    const std::string what = fmt::format("-v {}", in_quotes(mount.source + ":" + mount.target));
    const auto real = real_path(mount.source);
    if (!real) {
      refuse(what, "there is no such file or folder on this machine", "mounts", "correct the path");
      return;
    }
    if (is_allowed(mount, *real)) return;
    if (const std::string danger = danger_of(*real, context_.engine_sockets); !danger.empty()) {
      refuse(what, which(mount.source, *real) + "would give the app the machine: " + danger,
             "mounts");
    } else if (is_allowed(read_only(mount), *real)) {
      refuse(what, "it may only be mounted read-only", in_dataset(*real) ? "dataset" : "mounts",
             "add :ro");
    } else {
      refuse(what, which(mount.source, *real) + outside(), "mounts", "put it into the dataset");
    }
  }

  static Mount read_only(Mount mount) {
    mount.read_only = true;
    return mount;
  }

  std::string outside() const {
    return policy_.dataset == DatasetUse::none
               ? "is outside of every path that is allowed"
               : "is outside the dataset and every path that is allowed";
  }

  bool in_dataset(const fs::path& real) const { return dataset_ && is_within(real, *dataset_); }

  bool is_allowed(const Mount& mount, const fs::path& real) const {
    const bool dangerous = !danger_of(real, context_.engine_sockets).empty();
    const bool by_rule =
        std::any_of(policy_.mounts.begin(), policy_.mounts.end(),
                    [&](const MountRule& rule) { return fits(rule, mount, real, dangerous); });
    if (by_rule || dangerous || !in_dataset(real)) return by_rule;
    return policy_.dataset == DatasetUse::write ||
           (policy_.dataset == DatasetUse::read && mount.read_only);
  }

  static bool fits(const MountRule& rule, const Mount& mount, const fs::path& real,
                   bool dangerous) {
    const fs::path allowed = real_or_clean_path(rule.path);
    if (dangerous ? real != allowed : !is_within(real, allowed)) return false;
    if (!mount.read_only && !rule.write) return false;
    if (!rule.target.empty() && fs::path(mount.target).lexically_normal() != rule.target)
      return false;
    if (rule.file.empty()) return true;
    // Also by the name that it was given: by this, NamedFiles knows what to copy.
    std::error_code error;
    return real.filename() == rule.file && fs::path(mount.source).filename() == rule.file &&
           fs::is_regular_file(real, error);
  }

  const Policy& policy_;
  const PolicyContext& context_;
  std::optional<fs::path> dataset_;
  std::vector<std::string> sentences_;
};

}  // namespace

std::vector<fs::path> known_engine_sockets(const fs::path& users) {
  std::vector<fs::path> sockets = {"/var/run/docker.sock", "/run/podman/podman.sock",
                                   "/run/containerd/containerd.sock", "/run/crio/crio.sock",
                                   "/run/k3s/containerd/containerd.sock"};
  const auto add_user = [&](const fs::path& folder) {
    sockets.push_back(folder / "docker.sock");
    sockets.push_back(folder / "podman/podman.sock");
  };
  add_user(users / std::to_string(::getuid()));
  // The others' too: the engine may enter them all, whoever we are.
  std::error_code error;
  for (const auto& user : fs::directory_iterator(users, error)) add_user(user.path());
  constexpr std::string_view kUnix = "unix://";
  if (const char* host = std::getenv("DOCKER_HOST");
      host != nullptr && std::string_view(host).starts_with(kUnix))
    sockets.emplace_back(host + kUnix.size());
  return sockets;
}

Policy default_policy() {
  return {};
}

DockerArgs resolve_paths(DockerArgs args) {
  for (auto& mount : args.mounts) {
    const auto real = real_path(mount.source);
    if (mount.kind == MountKind::bind && real) mount.source = real->native();
  }
  for (auto& device : args.devices) {
    if (const auto real = real_path(device.source)) device.source = real->native();
  }
  return args;
}

std::vector<std::string> refused_by(const Policy& policy, const DockerArgs& args,
                                    const PolicyContext& context) {
  Judge judge(policy, context);
  judge.judge(args);
  return judge.take();
}

std::vector<std::string> refused_variables(const Policy& policy,
                                           const std::map<std::string, std::string>& env) {
  const PolicyContext context;
  Judge judge(policy, context);
  for (const auto& variable : env) judge.judge_env(variable.first, {});
  return judge.take();
}

std::optional<std::string> refused_dataset(const Policy& policy, const PolicyContext& context) {
  Judge judge(policy, context);
  judge.judge_dataset();
  const auto sentences = judge.take();
  return sentences.empty() ? std::nullopt : std::optional(sentences.front());
}

}  // namespace assay::launch
