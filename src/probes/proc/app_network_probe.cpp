// SPDX-License-Identifier: Apache-2.0
#include "kept_file.h"
#include "proc/tree_probe.h"
#include "text/node.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

namespace assay::probes {
namespace {

class AppNetworkProbe final : public Probe {
 public:
  AppNetworkProbe(const SysRoot& root, std::shared_ptr<ProcessTable> table, pid_t parent)
      : root_(root), table_(std::move(table)), parent_(parent) {}

  std::string_view name() const override { return "app network"; }
  Pace pace() const override { return Pace::beat; }
  Result<void> open(SampleSink& sink) override;
  Result<void> sample(const Clock& clock, SampleSink& sink) override;

 private:
  Result<std::string> network_of(std::string_view process) const;

  SysRoot root_;
  std::shared_ptr<ProcessTable> table_;
  pid_t parent_;
  std::optional<KeptFile> file_;
  SeriesId received_{};
  SeriesId sent_{};
};

Result<std::string> AppNetworkProbe::network_of(std::string_view process) const {
  std::error_code error;
  const std::string path = fmt::format("/proc/{}/ns/net", process);
  const auto link = std::filesystem::read_symlink(root_.path(path), error);
  if (error) return refused(fmt::format("cannot read {}: {}", path, error.message()));
  return link.native();
}

Result<void> AppNetworkProbe::open(SampleSink& sink) {
  table_->refresh();
  const auto& all = table_->processes();
  const auto first =
      std::find_if(all.begin(), all.end(), [](const Process& p) { return p.alive(); });
  // An app that is still to come will have its parent's.
  const pid_t pid = first == all.end() ? parent_ : first->pid;
  ASSAY_TRY(const std::string own, network_of("self"));
  ASSAY_TRY(const std::string app, network_of(fmt::to_string(pid)));
  if (own == app) return refused("the app shares this machine's network; see the node's series");
  ASSAY_TRY(file_, KeptFile::open(root_, fmt::format("/proc/{}/net/dev", pid)));
  const std::string source = "/proc/PID/net/dev of the app's own network";
  received_ = sink.declare(describe(MetricId::network_receive_bytes_total, Scope::app, source));
  sent_ = sink.declare(describe(MetricId::network_transmit_bytes_total, Scope::app, source));
  return {};
}

Result<void> AppNetworkProbe::sample(const Clock& clock, SampleSink& sink) {
  const Timestamp now = clock.now();
  const auto text = file_->read();
  if (!text) return refused("the app's network is gone");
  const NetDev net = parse_net_dev(*text, Interfaces::all);
  sink.sample(received_, now, static_cast<double>(net.receive_bytes));
  sink.sample(sent_, now, static_cast<double>(net.transmit_bytes));
  return {};
}

}  // namespace

std::unique_ptr<Probe> make_app_network_probe(const SysRoot& root,
                                              std::shared_ptr<ProcessTable> table, pid_t parent) {
  return std::make_unique<AppNetworkProbe>(root, std::move(table), parent);
}

}  // namespace assay::probes
