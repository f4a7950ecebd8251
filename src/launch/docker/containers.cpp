// SPDX-License-Identifier: Apache-2.0
#include "docker/container.h"
#include "docker/named_files.h"
#include "docker/needs.h"
#include "docker/policy.h"
#include "docker/run_group.h"
#include "docker/start_container.h"
#include "network_link.h"
#include "process/attach.h"

#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

/// A daemon that lives says at once who it is.
constexpr auto kFirstPatience = Milliseconds(10'000);
/// A container that somebody restarts is down for less.
constexpr auto kMomentOfARestart = Milliseconds(2000);

/// What the policy refuses of all that a spec asks for, each under its key. What is fetched from an
/// address lies in a cache of our own and is always allowed.
std::vector<Obstacle> refusals(const Policy& policy, DockerArgs args, const Target& target) {
  std::vector<Obstacle> found;
  const auto add = [&](const char* key, const std::vector<std::string>& sentences) {
    for (const auto& sentence : sentences) found.push_back({key, {ErrorKind::input, sentence}});
  };
  PolicyContext context;
  if (target.dataset.find("://") == std::string::npos) context.dataset = target.dataset;
  if (const auto sentence = refused_dataset(policy, context)) add("dataset", {*sentence});
  if (!target.limits.gpus.empty()) args.gpus = target.limits.gpus;
  add(target.docker_args.empty() ? "image" : "docker_args", refused_by(policy, args, context));
  add("env", refused_variables(policy, target.env));
  return found;
}

class DockerLauncher final : public Launcher {
 public:
  DockerLauncher(const net::Endpoint& endpoint, bool keeps_groups, StillWanted wanted)
      : engine_(endpoint), keeps_groups_(keeps_groups) {
    engine_.set_wanted(std::move(wanted));
  }
  std::string name() const override { return "docker"; }

  Result<std::unique_ptr<RunningApp>> start(const Request& request) override {
    const Owner owner = Owner::self(SysRoot());
    ASSAY_TRY(DockerArgs args, parse_docker_args(request.target.docker_args));
    // Judged again: what a path leads to may have changed since the plan.
    ASSAY_TRY(const Policy policy, find_policy());
    args = resolve_paths(std::move(args));
    NamedFiles files = NamedFiles::open(policy, args);
    if (const auto refused = refusals(policy, args, request.target); !refused.empty())
      return fail(refused.front().error);
    ASSAY_TRY(const auto image, engine_.image(request.target.image));
    if (!image) return refused(fmt::format("image {} is gone", request.target.image));
    ASSAY_CHECK(files.copy_to(request.stdout_file.parent_path() / "mounts", args));
    NewContainer container;
    container.name = fmt::format("assay-{}-{}", request.session_id, request.run);
    if (keeps_groups_) container.group = group_name(request.session_id, request.run, owner);
    container.stdout_file = request.stdout_file;
    container.stderr_file = request.stderr_file;
    container.limits = request.target.limits;
    return start_container(engine_, container, container_body(request, args, *image, owner));
  }

 private:
  Engine engine_;
  bool keeps_groups_;  ///< a group of ours above the container's has nobody else in it
};

class ContainersOfEngine final : public Containers {
 public:
  ContainersOfEngine(const net::Endpoint& endpoint, EngineInfo info)
      : engine_(endpoint), info_(std::move(info)) {}

  const std::string& engine() const override { return info_.name; }

  void while_wanted(StillWanted wanted) override {
    wanted_ = std::move(wanted);
    engine_.set_wanted(wanted_);
  }

  std::vector<Obstacle> obstacles(const Target& target) override {
    std::vector<Obstacle> found;
    const auto add = [&](const char* key, const Result<void>& result) {
      if (!result) found.push_back({key, result.error()});
    };
    add("image", check_image(target.image));
    add("resources", check_link(target));
    add_refused(target, found);
    for (const auto& need : target.needs) add("needs", check_image(need.image));
    return found;
  }

  Result<void> have_image(const std::string& image,
                          const std::function<bool(uint64_t, uint64_t)>& progress) override {
    ASSAY_TRY(const auto there, engine_.image(image));
    if (there) return {};
    ASSAY_CHECK(engine_.pull(image, progress));
    return check_image(image);
  }

  Result<std::string> host_address(const Target& target, const Needs* needs) override {
    ASSAY_TRY(const DockerArgs args, parse_docker_args(target.docker_args));
    if (args.network == "host") return std::string("127.0.0.1");
    if (info_.rootless)
      return refused(
          "playback cannot be reached from the containers of an engine without root, whose "
          "networks are out of this machine's reach; use root's engine (set DOCKER_HOST)");
    if (needs != nullptr) return engine_.gateway(needs->network());
    if (args.network == "none") return bad_input("a container without network has no playback");
    const bool podman = info_.name.starts_with("Podman");
    const std::string usual = podman ? "podman" : "bridge";
    const bool is_usual = args.network.empty() || args.network == "default";
    return engine_.gateway(is_usual ? usual : args.network);
  }

  Result<std::unique_ptr<Needs>> start_needs(const NeedsRequest& request,
                                             const Waiting& waiting) override {
    return launch::start_needs(engine_.endpoint(), info_.keeps_groups, request, waiting);
  }

  std::unique_ptr<Launcher> launcher() override {
    return std::make_unique<DockerLauncher>(engine_.endpoint(), info_.keeps_groups, wanted_);
  }

  Result<std::unique_ptr<RunningApp>> attach(const std::string& id) override {
    ASSAY_TRY(const ContainerState state, running(id));
    if (!is_here(state.id, state.pid)) return not_here(engine_.endpoint());
    watched_ = state.pid;
    // All of it: what an init started, and what somebody runs in it by `docker exec`.
    return attach_with(state.pid, container_groups(SysRoot(), state.pid, state.id));
  }

  bool runs_again(const std::string& id, Nanoseconds patience) override {
    using std::chrono::steady_clock;
    const auto start = steady_clock::now();
    for (auto waited = Nanoseconds(0); waited < patience; waited = steady_clock::now() - start) {
      if (wanted_ && !wanted_()) return false;
      const auto state = engine_.inspect(id);
      if (!state) return false;
      if (state->status == "running" && state->pid != 0 && state->pid != watched_) return true;
      if (state->status != "restarting" && waited > kMomentOfARestart) return false;
      ::poll(nullptr, 0, 50);
    }
    return false;
  }

  Result<Target> describe(const std::string& id) override {
    ASSAY_TRY(const ContainerState state, running(id));
    Target target;
    target.name = state.name;
    target.image = state.image;
    target.command = state.command;
    return target;
  }

  Result<std::vector<std::string>> clean_up() override {
    std::vector<std::string> lines;
    ASSAY_TRY(const auto containers, engine_.list(kSessionLabel));
    remove_leftovers("container", containers, &Engine::remove, lines);
    // Only an empty one can be removed.
    ASSAY_TRY(const auto networks, engine_.networks(kSessionLabel));
    remove_leftovers("network", networks, &Engine::remove_network, lines);
    return lines;
  }

 private:
  static bool is_leftover(const Listed& listed) {
    const auto label = listed.labels.find(kOwnerLabel);
    const auto owner = label == listed.labels.end() ? std::nullopt : Owner::parse(label->second);
    const auto machine = listed.labels.find(kMachineLabel);
    return owner && machine != listed.labels.end() &&
           machine->second == machine_name(SysRoot(), Owner::self(SysRoot())) &&
           state_of(SysRoot(), *owner) == ProcessState::dead;
  }

  void remove_leftovers(std::string_view what, const std::vector<Listed>& all,
                        Result<void> (Engine::*remove)(const std::string&),
                        std::vector<std::string>& lines) {
    for (const auto& listed : all) {
      if (!is_leftover(listed)) continue;
      const std::string id = listed.id.substr(0, 12);
      const auto removed = (engine_.*remove)(listed.id);
      lines.push_back(
          removed ? fmt::format("removed {} {} of session {}", what, id,
                                listed.labels.at(kSessionLabel))
                  : fmt::format("could not remove {} {}: {}", what, id, removed.error().message));
    }
  }

  Result<ContainerState> running(const std::string& id) {
    auto state = engine_.inspect(id);
    if (!state && state.error().kind == ErrorKind::input)
      return bad_input(
          fmt::format("there is no container '{}'; `docker ps` shows those that run", id));
    if (!state) return fail(state.error());
    if (state->pid == 0) return bad_input(fmt::format("container {} does not run", id));
    return state;
  }

  Result<void> check_image(const std::string& name) {
    ASSAY_TRY(const auto image, engine_.image(name));
    if (!image || image->architecture.empty() || image->architecture == info_.architecture ||
        can_emulate(image->architecture))
      return {};
    return refused(fmt::format(
        "image {0} is for {1}, this machine is {2}; build or pull it for this one (docker pull "
        "--platform linux/{2} {0})",
        name, image->architecture, info_.architecture));
  }

  static bool can_emulate(const std::string& architecture) {
    const std::string name = architecture == "arm64" ? "aarch64" : architecture;
    return SysRoot().exists("/proc/sys/fs/binfmt_misc/qemu-" + name);
  }

  /// Only a network of the app's own is slowed down, never one that others use.
  static Result<void> check_link(const Target& target) {
    if (target.limits.network.empty()) return {};
    const auto args = parse_docker_args(target.docker_args);
    const std::string name = args ? args->network : "";
    if (name == "host" || name == "none" || name.starts_with("container:"))
      return bad_input(fmt::format(
          "network: with --network {} the app has none of its own that could be slowed down; leave "
          "out one of the two",
          name));
    return can_apply(target.limits.network);
  }

  static void add_refused(const Target& target, std::vector<Obstacle>& found) {
    const auto add = [&](Error error) { found.push_back({"docker_args", std::move(error)}); };
    auto args = parse_docker_args(target.docker_args);
    if (!args) return add(args.error());
    const auto policy = find_policy();
    if (!policy) return add(policy.error());
    for (auto& refused : refusals(*policy, resolve_paths(*args), target))
      found.push_back(std::move(refused));
    for (auto& sentence : refused_needs(*policy, *args, target.needs))
      found.push_back({"needs", {ErrorKind::input, std::move(sentence)}});
  }

  Engine engine_;
  EngineInfo info_;
  StillWanted wanted_;
  pid_t watched_ = 0;  ///< the first process of the last one attached to
};

}  // namespace

Result<std::unique_ptr<Containers>> find_containers(const StillWanted& wanted) {
  ASSAY_TRY(const net::Endpoint endpoint, engine_endpoint());
  Engine engine(endpoint);
  engine.set_patience(kFirstPatience);
  engine.set_wanted(wanted);
  ASSAY_TRY(EngineInfo info, engine.info());
  auto containers = std::make_unique<ContainersOfEngine>(endpoint, std::move(info));
  containers->while_wanted(wanted);
  return containers;
}

}  // namespace assay::launch
