// SPDX-License-Identifier: Apache-2.0
#include "docker/engine.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/launch/worker_container.h>

namespace assay::launch {
namespace {

constexpr int kLastLines = 5;
constexpr size_t kLongestWords = 500;

/// Where a worker's port is to be reached: the daemon's own address, if that is another machine.
Result<std::string> address_of(const net::Endpoint& endpoint) {
  if (!endpoint.unix_socket.empty() || net::is_loopback_url(endpoint.base)) return "127.0.0.1";
  std::string host = endpoint.base.substr(endpoint.base.find("://") + 3);
  host.resize(std::min(host.rfind(':'), host.size()));
  std::array<unsigned char, sizeof(in_addr)> number{};
  if (::inet_pton(AF_INET, host.c_str(), number.data()) == 1) return host;
  return bad_input(
      fmt::format("write the daemon of another node by its address, as in tcp://10.0.0.7:2376; {} "
                  "is a name",
                  host));
}

Json body_of(const WorkerContainer& worker, const std::string& address) {
  Json env = Json::array();
  for (const auto& [name, value] : worker.env) env.push_back(name + "=" + value);
  const std::string port = fmt::format("{}/tcp", worker.port);
  return {{"Image", worker.image},
          {"Env", std::move(env)},
          {"Labels", worker.labels},
          {"ExposedPorts", {{port, Json::object()}}},
          {"HostConfig",
           {{"ReadonlyRootfs", true},
            {"RestartPolicy", {{"Name", "no"}}},
            {"Memory", worker.memory_bytes},
            {"CapDrop", {"ALL"}},
            {"SecurityOpt", {"no-new-privileges"}},
            {"Tmpfs", {{"/tmp", ""}}},
            {"Mounts", Json::array({{{"Type", "volume"}, {"Target", worker.folder}}})},
            {"PortBindings", {{port, Json::array({{{"HostIp", address}, {"HostPort", ""}}})}}}}}};
}

std::string in_one_line(std::string_view text) {
  std::string line(trim(text));
  if (line.size() > kLongestWords) line.erase(0, line.size() - kLongestWords);
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  return line;
}

std::string end_of(const ContainerState& state) {
  if (state.oom_killed) return "was out of memory";
  if (!state.error.empty()) return state.error;
  return fmt::format("ended with {}", state.exit_code);
}

}  // namespace

struct WorkerDaemon::State {
  Engine engine;
  std::string address;
  StillWanted wanted;

  Result<void> fetch(const std::string& image) {
    ASSAY_TRY(const auto there, engine.image(image));
    if (there) return {};
    return engine.pull(image, [this](uint64_t, uint64_t) { return !wanted || wanted(); });
  }
  Result<void> fill_and_start(const std::string& id, const WorkerContainer& worker) {
    ASSAY_CHECK(engine.put(id, worker.folder, worker.file_name, worker.file));
    return engine.start(id);
  }
};

WorkerDaemon::WorkerDaemon(std::unique_ptr<State> state) : state_(std::move(state)) {}
WorkerDaemon::WorkerDaemon(WorkerDaemon&&) noexcept = default;
WorkerDaemon& WorkerDaemon::operator=(WorkerDaemon&&) noexcept = default;
WorkerDaemon::~WorkerDaemon() = default;

Result<WorkerDaemon> WorkerDaemon::open(const std::string& host, std::function<bool()> wanted) {
  ASSAY_TRY(const net::Endpoint endpoint, host.empty() ? engine_endpoint() : engine_endpoint(host));
  ASSAY_TRY(std::string address, address_of(endpoint));
  auto state =
      std::make_unique<State>(State{Engine(endpoint), std::move(address), std::move(wanted)});
  state->engine.set_wanted(state->wanted);
  return WorkerDaemon(std::move(state));
}

Result<std::string> WorkerDaemon::start(const WorkerContainer& worker) {
  ASSAY_CHECK(state_->fetch(worker.image));
  state_->engine.set_remover("assay place --end " + worker.name);
  ASSAY_TRY(std::string id, state_->engine.create(worker.name, body_of(worker, state_->address)));
  const auto started = state_->fill_and_start(id, worker);
  if (started) return id;
  Error error = started.error();
  if (const auto removed = state_->engine.remove(id); !removed)
    error.message +=
        fmt::format("; its container {} is still there: {}", worker.name, removed.error().message);
  return fail(std::move(error));
}

Result<WorkerState> WorkerDaemon::state(const std::string& id, int port) {
  ASSAY_TRY(const ContainerState found, state_->engine.inspect(id));
  WorkerState state{.running = found.status == "running"};
  if (!state.running) {
    state.ended = end_of(found);
    return state;
  }
  ASSAY_TRY(state.address, state_->engine.published(id, port));
  return state;
}

std::string WorkerDaemon::last_words(const std::string& id) {
  const auto text = state_->engine.last_output(id, kLastLines);
  return text ? in_one_line(*text) : "";
}

Result<void> WorkerDaemon::remove(const std::string& id) {
  return state_->engine.remove(id);
}

Result<std::string> WorkerDaemon::find(const std::string& name, const std::string& label) {
  ASSAY_TRY(const auto all, state_->engine.list(label));
  for (const auto& one : all) {
    const auto state = state_->engine.inspect(one.id);
    if (state && state->name == name) return one.id;
  }
  return bad_input(fmt::format("no container that assay placed is called {}", name));
}

Result<std::vector<ListedWorker>> WorkerDaemon::list(const std::string& label) {
  ASSAY_TRY(const auto all, state_->engine.list(label));
  std::vector<ListedWorker> found;
  for (const auto& one : all) found.push_back({one.name, one.labels, one.status, one.created});
  return found;
}

}  // namespace assay::launch
