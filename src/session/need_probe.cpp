// SPDX-License-Identifier: Apache-2.0
#include "need_probe.h"

#include <algorithm>
#include <fmt/format.h>

namespace assay::session {
namespace {

/// Renames the series of the app.
class NeedSink final : public SampleSink {
 public:
  NeedSink(SampleSink& next, const std::string& need) : next_(next), need_(need) {}
  SeriesId declare(const SeriesInfo& info) override {
    SeriesInfo renamed = info;
    renamed.scope = Scope::need;
    renamed.labels.emplace_back("need", need_);
    std::sort(renamed.labels.begin(), renamed.labels.end());
    return next_.declare(renamed);
  }
  void sample(SeriesId id, Timestamp time, double value) override { next_.sample(id, time, value); }
  void lost(const Loss& loss) override { next_.lost(loss); }

 private:
  SampleSink& next_;
  const std::string& need_;
};

class NeedProbe final : public probes::Probe {
 public:
  NeedProbe(std::unique_ptr<Probe> inner, const SysRoot& root, std::string need, pid_t process)
      : inner_(std::move(inner)),
        root_(root),
        need_(std::move(need)),
        name_(fmt::format("{} of {}", inner_->name(), need_)),
        process_(process) {}

  std::string_view name() const override { return name_; }
  probes::Pace pace() const override { return inner_->pace(); }
  Result<void> open(SampleSink& sink) override {
    NeedSink renaming(sink, need_);
    return look_for_end(inner_->open(renaming));
  }
  Result<void> sample(const Clock& clock, SampleSink& sink) override {
    if (ended_) return {};
    NeedSink renaming(sink, need_);
    return look_for_end(inner_->sample(clock, renaming));
  }

 private:
  /// What has ended cannot be measured, which is no failure.
  Result<void> look_for_end(const Result<void>& done) {
    ended_ = !done && !root_.exists(fmt::format("/proc/{}", process_));
    return ended_ ? Result<void>() : done;
  }

  std::unique_ptr<Probe> inner_;
  SysRoot root_;
  std::string need_;
  std::string name_;
  pid_t process_;
  bool ended_ = false;
};

}  // namespace

probes::Probes need_probes(const SysRoot& root, const std::string& name,
                           const probes::AppTarget& target) {
  probes::Probes all;
  for (auto& probe : probes::app_probes(root, target))
    all.push_back(std::make_unique<NeedProbe>(std::move(probe), root, name, target.root));
  return all;
}

}  // namespace assay::session
