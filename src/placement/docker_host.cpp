// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <optional>

#include <assay/launch/worker_container.h>
#include <assay/net/http_client.h>
#include <assay/placement/docker_host.h>

namespace assay::placement {
namespace {

constexpr const char* kFolder = "/assay";
constexpr const char* kFileName = "model.onnx";
constexpr Milliseconds kHealthPatience{2000};

class DockerHost final : public WorkerHost {
 public:
  DockerHost(launch::WorkerDaemon daemon, std::function<bool()> wanted)
      : daemon_(std::move(daemon)), wanted_(std::move(wanted)) {}

  Result<void> start(const WorkerPlan& plan) override {
    launch::WorkerContainer worker{.name = plan.name,
                                   .image = plan.image,
                                   .env = plan.env,
                                   .labels = {{kWorkerLabel, plan.model}, {kNodeLabel, plan.node}},
                                   .file = plan.file,
                                   .folder = kFolder,
                                   .file_name = kFileName,
                                   .port = kWorkerPort,
                                   .memory_bytes = memory_limit(plan)};
    worker.env["ASSAY_MODEL"] = fmt::format("{}/{}", kFolder, kFileName);
    ASSAY_TRY(id_, daemon_.start(worker));
    return {};
  }

  Result<bool> serves() override {
    ASSAY_TRY(const launch::WorkerState state, daemon_.state(id_, kWorkerPort));
    if (!state.running) {
      const std::string words = daemon_.last_words(id_);
      return fail(ErrorKind::app,
                  fmt::format("it {}{}{}", state.ended, words.empty() ? "" : ": ", words));
    }
    if (state.address.empty()) return false;
    if (state.address != address_) {
      address_ = state.address;
      http_.emplace(net::Endpoint{.base = "http://" + address_});
    }
    net::Request request = to("/healthz", kHealthPatience);
    const auto response = http_->send(request);
    return response && response->ok();
  }

  Result<std::string> run(const std::string& body, Milliseconds patience) override {
    net::Request request = to("/run", patience);
    request.method = "POST";
    request.headers = {"Content-Type: application/json"};
    request.body = body;
    ASSAY_TRY(net::Response response, http_->send(request));
    if (response.status == 0) return refused("interrupted");
    return std::move(response.body);
  }

  std::string address() const override { return "http://" + address_; }
  Result<void> end() override { return daemon_.remove(id_); }

 private:
  net::Request to(std::string path, Milliseconds patience) const {
    net::Request request;
    request.path = std::move(path);
    request.timeout = patience;
    request.still_wanted = wanted_;
    return request;
  }

  launch::WorkerDaemon daemon_;
  std::function<bool()> wanted_;
  std::string id_;
  std::string address_;
  std::optional<net::HttpClient> http_;
};

Worker::State state_of(const std::string& status) {
  if (status == "running") return Worker::State::running;
  return status == "created" ? Worker::State::starting : Worker::State::ended;
}

}  // namespace

Result<std::unique_ptr<WorkerHost>> docker_host(const std::string& daemon,
                                                std::function<bool()> wanted) {
  ASSAY_TRY(launch::WorkerDaemon opened, launch::WorkerDaemon::open(daemon, wanted));
  return std::unique_ptr<WorkerHost>(
      std::make_unique<DockerHost>(std::move(opened), std::move(wanted)));
}

Result<void> end_docker_worker(const std::string& daemon, const std::string& name) {
  ASSAY_TRY(launch::WorkerDaemon opened, launch::WorkerDaemon::open(daemon, {}));
  ASSAY_TRY(const std::string id, opened.find(name, kWorkerLabel));
  return opened.remove(id);
}

Result<std::vector<Worker>> docker_workers(const std::string& daemon, const std::string& node,
                                           std::function<bool()> wanted) {
  ASSAY_TRY(launch::WorkerDaemon opened, launch::WorkerDaemon::open(daemon, std::move(wanted)));
  ASSAY_TRY(const auto all, opened.list(kWorkerLabel));
  std::vector<Worker> workers;
  for (const auto& one : all) {
    const auto label = [&](const char* name, const std::string& missing) {
      const auto found = one.labels.find(name);
      return found == one.labels.end() ? missing : found->second;
    };
    workers.push_back({one.name, label(kWorkerLabel, ""), label(kNodeLabel, node),
                       state_of(one.status), one.created});
  }
  return workers;
}

}  // namespace assay::placement
