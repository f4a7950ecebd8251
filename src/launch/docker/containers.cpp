// SPDX-License-Identifier: Apache-2.0
#include "docker/container.h"
#include "docker/container_app.h"
#include "docker/policy.h"
#include "network_link.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

/// "no such command", in the words of Docker and of Podman.
bool is_about_the_app(const std::string& message) {
  return message.find("executable file not found") != std::string::npos ||
         message.find("no such file or directory") != std::string::npos ||
         message.find("permission denied") != std::string::npos;
}

Failure could_not_start(const Error& error) {
  const auto kind = is_about_the_app(error.message) ? ErrorKind::app : ErrorKind::environment;
  return fail(kind, "the container could not be started: " + error.message);
}

/// What the policy refuses of all that a spec asks for: docker arguments, env, GPUs and the
/// dataset, which is a mount like others.
std::vector<std::string> refusals(const Policy& policy, DockerArgs args, const Target& target,
                                  const std::filesystem::path& dataset) {
  if (!target.limits.gpus.empty()) args.gpus = target.limits.gpus;
  args.env.insert(target.env.begin(), target.env.end());
  PolicyContext context;
  if (!dataset.empty()) {
    Mount mount;
    mount.source = dataset;
    mount.target = kDataFolder;
    mount.read_only = true;
    args.mounts.push_back(std::move(mount));
    args = resolve_paths(std::move(args));
    context.dataset = args.mounts.back().source;
  }
  return refused_by(policy, args, context);
}

/// A pid means something only where it was given: an engine may run on another machine, or we in a
/// container beside it.
bool is_here(const std::string& id, pid_t pid) {
  const auto groups = SysRoot().read(fmt::format("/proc/{}/cgroup", pid));
  return groups && groups->find(id) != std::string::npos;
}

Failure not_here(const net::Endpoint& endpoint) {
  const std::string where = endpoint.unix_socket.empty()
                                ? std::string(net::shown_url(endpoint.base))
                                : endpoint.unix_socket.native();
  return refused(fmt::format(
      "the containers of the engine at {} cannot be seen from here; run assay on its machine",
      where));
}

NotMeasured without_totals(const Error& error) {
  return {"app's last moments",
          error.message +
              "; CPU time since the last sample before the app's end is not counted "
              "(run as root to have it)"};
}

/// Removes the container unless it was handed on.
class Created {
 public:
  Created(Engine& engine, std::string id) : engine_(engine), id_(std::move(id)) {}
  Created(const Created&) = delete;
  Created& operator=(const Created&) = delete;
  ~Created() {
    if (!id_.empty()) (void)!engine_.remove(id_);
  }
  const std::string& id() const { return id_; }
  void keep() { id_.clear(); }

 private:
  Engine& engine_;
  std::string id_;
};

class DockerLauncher final : public Launcher {
 public:
  DockerLauncher(const net::Endpoint& endpoint, bool keeps_groups)
      : engine_(endpoint), keeps_groups_(keeps_groups) {}
  std::string name() const override { return "docker"; }

  Result<std::unique_ptr<RunningApp>> start(const Request& request) override {
    const Owner owner = Owner::self(SysRoot());
    ASSAY_TRY(DockerArgs args, parse_docker_args(request.target.docker_args));
    args = resolve_paths(std::move(args));
    // Judged again: what a path leads to may have changed since the plan.
    ASSAY_TRY(const Policy policy, find_policy());
    if (const auto refused = refusals(policy, args, request.target, request.dataset);
        !refused.empty())
      return bad_input(refused.front());
    ASSAY_TRY(const auto image, engine_.image(request.target.image));
    if (!image) return refused(fmt::format("image {} is gone", request.target.image));
    const std::string name = fmt::format("assay-{}-{}", request.session_id, request.run);
    StartedContainer container;
    if (keeps_groups_) {
      auto group = RunGroup::make(SysRoot(), group_name(request.session_id, request.run, owner));
      if (group) container.group.emplace(std::move(*group));
      if (!group) container.notes.push_back(without_totals(group.error()));
    }
    const std::string parent = container.group ? container.group->parent() : "";
    ASSAY_TRY(std::string id,
              engine_.create(name, container_body(request, args, *image, owner, parent)));
    Created created(engine_, std::move(id));
    container.id = created.id();
    container.memory_limit = request.target.limits.memory_bytes;
    auto logs =
        LogPump::start(engine_.endpoint(), container.id, request.stdout_file, request.stderr_file);
    // Podman prepares the app when it is attached to.
    if (!logs) return could_not_start(logs.error());
    container.logs = std::move(*logs);
    if (const auto prepared = engine_.inspect(container.id); prepared && prepared->pid != 0)
      container.groups_before = container_groups(SysRoot(), prepared->pid, container.id);
    if (auto started = engine_.start(container.id); !started)
      return could_not_start(started.error());
    ASSAY_TRY(const ContainerState state, engine_.inspect(container.id));
    container.pid = state.pid;
    ASSAY_CHECK(check_place(container));
    ASSAY_CHECK(limit_network(request.target.limits.network, container));
    ASSAY_TRY(auto app, watch_container(engine_.endpoint(), std::move(container)));
    created.keep();
    return app;
  }

 private:
  /// It may have ended: then the engine knows soon.
  Result<void> check_place(const StartedContainer& container) {
    constexpr int kLooks = 100;
    for (int look = 0; look < kLooks; ++look) {
      if (container.pid == 0 || is_here(container.id, container.pid)) return {};
      const auto state = engine_.inspect(container.id);
      if (!state || state->pid != container.pid) return {};
      ::poll(nullptr, 0, 20);
    }
    return not_here(engine_.endpoint());
  }

  static Result<void> limit_network(const Link& link, StartedContainer& container) {
    if (link.empty() || container.pid == 0) return {};
    ASSAY_TRY(auto notes, apply_link(container.pid, link));
    for (auto& note : notes) container.notes.push_back(std::move(note));
    return {};
  }

  Engine engine_;
  bool keeps_groups_;  ///< a group of ours above the container's has nobody else in it
};

class ContainersOfEngine final : public Containers {
 public:
  ContainersOfEngine(const net::Endpoint& endpoint, EngineInfo info)
      : engine_(endpoint), info_(std::move(info)) {}

  const std::string& engine() const override { return info_.name; }

  std::vector<Obstacle> obstacles(const Target& target) override {
    std::vector<Obstacle> found;
    const auto add = [&](const char* key, const Result<void>& result) {
      if (!result) found.push_back({key, result.error()});
    };
    add("image", check_image(target.image));
    add("resources", check_link(target.limits.network));
    add_refused(target, found);
    return found;
  }

  Result<void> have_image(const std::string& image,
                          const std::function<bool(uint64_t, uint64_t)>& progress) override {
    ASSAY_TRY(const auto there, engine_.image(image));
    if (there) return {};
    ASSAY_CHECK(engine_.pull(image, progress));
    return check_image(image);
  }

  Result<std::string> host_address(const Target& target) override {
    ASSAY_TRY(const DockerArgs args, parse_docker_args(target.docker_args));
    if (args.network == "host") return std::string("127.0.0.1");
    if (args.network == "none") return bad_input("a container without network has no playback");
    const bool podman = info_.name.starts_with("Podman");
    const std::string usual = podman ? "podman" : "bridge";
    const bool is_usual = args.network.empty() || args.network == "default";
    return engine_.gateway(is_usual ? usual : args.network);
  }

  std::unique_ptr<Launcher> launcher() override {
    return std::make_unique<DockerLauncher>(engine_.endpoint(), info_.keeps_groups);
  }

  Result<std::unique_ptr<RunningApp>> attach(const std::string& id) override {
    ASSAY_TRY(const ContainerState state, running(id));
    if (!is_here(state.id, state.pid)) return not_here(engine_.endpoint());
    return launch::attach(state.pid);
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
    for (const auto& container : containers) {
      if (!is_leftover(container)) continue;
      const std::string id = container.id.substr(0, 12);
      const std::string session = container.labels.at(kSessionLabel);
      const auto removed = engine_.remove(container.id);
      lines.push_back(
          removed ? fmt::format("removed container {} of session {}", id, session)
                  : fmt::format("could not remove container {}: {}", id, removed.error().message));
    }
    return lines;
  }

 private:
  static bool is_leftover(const ListedContainer& listed) {
    const auto label = listed.labels.find(kOwnerLabel);
    const auto owner = label == listed.labels.end() ? std::nullopt : Owner::parse(label->second);
    const auto machine = listed.labels.find(kMachineLabel);
    return owner && machine != listed.labels.end() &&
           machine->second == machine_name(Owner::self(SysRoot())) &&
           state_of(SysRoot(), *owner) == ProcessState::dead;
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

  static Result<void> check_link(const Link& link) {
    return link.empty() ? Result<void>() : can_apply(link);
  }

  static void add_refused(const Target& target, std::vector<Obstacle>& found) {
    const auto add = [&](Error error) { found.push_back({"docker_args", std::move(error)}); };
    auto args = parse_docker_args(target.docker_args);
    if (!args) return add(args.error());
    const auto policy = find_policy();
    if (!policy) return add(policy.error());
    const bool local = target.dataset.find("://") == std::string::npos;
    for (auto& sentence :
         refusals(*policy, resolve_paths(std::move(*args)), target, local ? target.dataset : ""))
      add({ErrorKind::input, std::move(sentence)});
  }

  Engine engine_;
  EngineInfo info_;
};

}  // namespace

Result<std::unique_ptr<Containers>> find_containers() {
  ASSAY_TRY(const net::Endpoint endpoint, engine_endpoint());
  Engine engine(endpoint);
  ASSAY_TRY(EngineInfo info, engine.info());
  return std::make_unique<ContainersOfEngine>(endpoint, std::move(info));
}

}  // namespace assay::launch
