// SPDX-License-Identifier: Apache-2.0
#include "node/process_count.h"

#include "folder_entries.h"

namespace assay::probes {
namespace {

class ProcessCountProbe final : public Probe {
 public:
  explicit ProcessCountProbe(const SysRoot& root) : root_(root) {}

  std::string_view name() const override { return "node processes"; }
  Pace pace() const override { return Pace::slow; }

  Result<void> open(SampleSink& sink) override {
    ASSAY_TRY(folder_, root_.open("/proc"));
    series_ = sink.declare(describe(MetricId::processes, Scope::node, "entries of /proc"));
    return {};
  }

  Result<void> sample(const Clock& clock, SampleSink& sink) override {
    const Timestamp now = clock.now();
    int count = 0;
    for_each_number(folder_.get(), [&](pid_t) { ++count; });
    sink.sample(series_, now, count);
    return {};
  }

 private:
  SysRoot root_;
  Fd folder_;
  SeriesId series_{};
};

}  // namespace

std::unique_ptr<Probe> make_process_count_probe(const SysRoot& root) {
  return std::make_unique<ProcessCountProbe>(root);
}

}  // namespace assay::probes
