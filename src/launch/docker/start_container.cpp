// SPDX-License-Identifier: Apache-2.0
#include "docker/start_container.h"

#include "docker/container_app.h"
#include "docker/engine_answers.h"
#include "network_link.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <assay/base/files.h>

namespace assay::launch {
namespace {

/// The name in `exec: "name": executable file not found in $PATH`; empty: it is about something
/// else.
std::string missing_program(const std::string& message) {
  const size_t end = message.find("\": executable file not found");
  const size_t begin = end == std::string::npos ? end : message.rfind('"', end - 1);
  if (end == std::string::npos || begin == std::string::npos) return "";
  return message.substr(begin + 1, end - begin - 1);
}

Failure could_not_start(const Error& error) {
  if (const std::string program = missing_program(error.message); !program.empty())
    return fail(ErrorKind::app, fmt::format("the image has no program '{}'", program));
  const auto kind =
      says_it_cannot_be_executed(error.message) ? ErrorKind::app : ErrorKind::environment;
  return fail(kind, "the container could not be started: " + error.message);
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

/// It may have ended: then the engine knows soon.
Result<void> check_place(Engine& engine, const StartedContainer& container) {
  constexpr int kLooks = 100;
  for (int look = 0; look < kLooks; ++look) {
    if (container.pid == 0 || is_here(container.id, container.pid)) return {};
    const auto state = engine.inspect(container.id);
    if (!state || state->pid != container.pid) return {};
    ::poll(nullptr, 0, 20);
  }
  return not_here(engine.endpoint());
}

/// A process that ends loses its network a moment before it is seen to end.
bool has_ended(pid_t pid) {
  constexpr int kMomentMilliseconds = 100;
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  pollfd waiting = {process.get(), POLLIN, 0};
  return !process.valid() || ::poll(&waiting, 1, kMomentMilliseconds) > 0;
}

Result<void> limit_network(const Link& link, StartedContainer& container) {
  if (link.empty() || container.pid == 0) return {};
  auto notes = apply_link(container.pid, link);
  if (!notes && has_ended(container.pid))
    notes = std::vector<NotMeasured>{{"network limit", "the app had ended before it was applied"}};
  if (!notes) return fail(notes.error());
  container.notes.insert(container.notes.end(), notes->begin(), notes->end());
  return {};
}

}  // namespace

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

Result<std::unique_ptr<RunningApp>> start_container(Engine& engine, const NewContainer& wanted,
                                                    Json body) {
  StartedContainer container;
  if (!wanted.group.empty()) {
    auto group = RunGroup::make(SysRoot(), wanted.group);
    if (group) container.group.emplace(std::move(*group));
    if (!group) container.notes.push_back(without_totals(group.error()));
  }
  if (container.group) body["HostConfig"]["CgroupParent"] = container.group->parent();
  ASSAY_TRY(std::string id, engine.create(wanted.name, body));
  Created created(engine, std::move(id));
  container.id = created.id();
  container.memory_limit = wanted.limits.memory_bytes;
  auto logs =
      LogPump::start(engine.endpoint(), container.id, wanted.stdout_file, wanted.stderr_file);
  // Podman prepares the app when it is attached to.
  if (!logs) return could_not_start(logs.error());
  container.logs = std::move(*logs);
  if (const auto prepared = engine.inspect(container.id); prepared && prepared->pid != 0)
    container.groups_before = container_groups(SysRoot(), prepared->pid, container.id);
  if (auto started = engine.start(container.id); !started) return could_not_start(started.error());
  ASSAY_TRY(const ContainerState state, engine.inspect(container.id));
  container.pid = state.pid;
  container.started = state.started;
  ASSAY_CHECK(check_place(engine, container));
  ASSAY_CHECK(limit_network(wanted.limits.network, container));
  ASSAY_TRY(auto app, watch_container(engine.endpoint(), std::move(container)));
  created.keep();
  return app;
}

}  // namespace assay::launch
