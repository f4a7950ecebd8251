// SPDX-License-Identifier: Apache-2.0
#include "status.h"

#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <fmt/format.h>
#include <string_view>
#include <thread>

#include <assay/base/quiet_thread.h>
#include <assay/net/http_server.h>
#include <assay/promapi/exposition.h>

namespace assay::cluster {
namespace {

using promapi::FamilyKind;

constexpr std::array kOutcomes = {"done", "gone", "taken", "throttled", "forbidden", "refused"};

class Server final : public StatusServer {
 public:
  Server(const Clock& clock, Nanoseconds interval)
      : clock_(clock),
        interval_(interval),
        server_(loop_, [this](const net::ServerRequest& request) { return answer(request); }),
        alive_(clock.now()) {}
  ~Server() override {
    loop_.stop();
    if (thread_.joinable()) thread_.join();
  }

  Result<void> start(const std::string& address) {
    ASSAY_TRY(port_, server_.listen(address));
    thread_ = quiet_thread([this] {
      const auto work = boost::asio::make_work_guard(loop_);
      loop_.run();
    });
    return {};
  }
  void set(const Status& status) override {
    const Lock lock(mutex_);
    status_ = status;
  }
  void alive() override { alive_ = clock_.now(); }
  int port() const override { return port_; }

 private:
  net::ServerResponse answer(const net::ServerRequest& request) {
    net::ServerResponse response;
    if (request.path == "/healthz" || request.path == "/readyz") {
      constexpr auto kSilence = std::chrono::minutes(10);
      if (clock_.now() - alive_.load() > interval_ + kSilence)
        return net::refusal(503, "the last round has not come to its end for ten minutes");
      response.body = "ok\n";
      return response;
    }
    if (request.path != "/metrics") return net::refusal(404, "there is /metrics and /healthz");
    const Lock lock(mutex_);
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = status_text(status_);
    return response;
  }

  const Clock& clock_;
  const Nanoseconds interval_;
  boost::asio::io_context loop_{1};
  net::HttpServer server_;
  Mutex mutex_;
  Status status_ ASSAY_GUARDED_BY(mutex_);
  std::atomic<Timestamp> alive_;
  int port_ = 0;
  std::jthread thread_;
};

std::string some(uint64_t count, const char* of) {
  return fmt::format("{} {}{}", count, of, count == 1 ? "" : "s");
}

std::string patches(uint64_t count) {
  return fmt::format("{} patch{}", count, count == 1 ? "" : "es");
}

uint64_t failed(const Writes& writes) {
  using kubeapi::Outcome;
  uint64_t count = writes.unanswered;
  for (const auto outcome : {Outcome::taken, Outcome::forbidden, Outcome::refused})
    count += writes.by_outcome.at(static_cast<size_t>(outcome));
  return count;
}

}  // namespace

std::string status_sentence(const Status& status) {
  const auto& writes = status.writes;
  auto text = fmt::format(
      "{}: {}{}, {} and {} seen, {} written", some(status.rounds, "round"),
      some(status.nodes, "node"), status.gpus ? " with " + some(status.gpus, "GPU") : "",
      some(status.pods, "pod"), some(status.jobs, "job"), patches(writes.by_outcome.front()));
  if (const auto count = failed(writes))
    text += fmt::format("; {} failed, the last one: {}", count, writes.why);
  if (writes.waiting)
    text += fmt::format("; {} {} not written: give more --rounds", writes.waiting,
                        writes.waiting == 1 ? "was" : "were");
  if (!status.leads)
    text += status.another_leads ? "; another replica writes"
                                 : "; no replica writes, as none has the lease assay-profiler yet: "
                                   "see above, or give more --rounds";
  if (status.failed_readings)
    text += fmt::format("; nothing was read in {}", some(status.failed_readings, "round"));
  if (!status.history_saved) text += "; the history could not be written";
  return text;
}

std::string status_text(const Status& status) {
  promapi::Exposition out;
  out.start(promapi::TextFormat::classic);
  const promapi::LabelText none;
  const auto one = [&](const char* name, FamilyKind kind, const char* help, double value) {
    out.family(name, kind, help);
    out.sample(none, value);
  };
  const auto& writes = status.writes;
  one("assay_cluster_leads", FamilyKind::gauge, "1 where this replica is the one that writes.",
      status.leads);
  one("assay_cluster_rounds_total", FamilyKind::counter, "Rounds since the start.",
      static_cast<double>(status.rounds));
  one("assay_cluster_round_seconds", FamilyKind::gauge, "Work of the last round, without waiting.",
      status.round_seconds);
  one("assay_cluster_failed_readings_total", FamilyKind::counter,
      "Rounds without a usable answer of Prometheus.", static_cast<double>(status.failed_readings));
  if (status.reading_age_seconds >= 0)
    one("assay_cluster_reading_age_seconds", FamilyKind::gauge, "Age of what annotations tell.",
        status.reading_age_seconds);
  one("assay_cluster_nodes", FamilyKind::gauge, "Nodes that are known.",
      static_cast<double>(status.nodes));
  one("assay_cluster_pods", FamilyKind::gauge, "Pods that are known.",
      static_cast<double>(status.pods));
  one("assay_cluster_jobs", FamilyKind::gauge, "Jobs that are known.",
      static_cast<double>(status.jobs));
  one("assay_cluster_gpus", FamilyKind::gauge, "GPUs that are measured.",
      static_cast<double>(status.gpus));
  one("assay_cluster_history_saved", FamilyKind::gauge, "0 while the history cannot be written.",
      status.history_saved);
  one("assay_cluster_annotations_waiting", FamilyKind::gauge,
      "Objects that changed materially and are not written yet.",
      static_cast<double>(writes.waiting));
  one("assay_cluster_annotation_staleness_seconds", FamilyKind::gauge,
      "For how long the stalest of them has been waiting.", writes.stalest_seconds);
  one("assay_cluster_patches_unanswered_total", FamilyKind::counter,
      "Writes to which the API server gave no answer.", static_cast<double>(writes.unanswered));
  out.family("assay_cluster_patches_total", FamilyKind::counter, "Writes by what came of them.");
  for (size_t i = 0; i < kOutcomes.size(); ++i)
    out.sample(none, promapi::Label{"outcome", kOutcomes[i]},
               static_cast<double>(writes.by_outcome[i]));
  return std::string(out.finish());
}

Result<std::unique_ptr<StatusServer>> StatusServer::start(const std::string& address,
                                                          const Clock& clock,
                                                          Nanoseconds interval) {
  auto server = std::make_unique<Server>(clock, interval);
  ASSAY_CHECK(server->start(address));
  return std::unique_ptr<StatusServer>(std::move(server));
}

}  // namespace assay::cluster
