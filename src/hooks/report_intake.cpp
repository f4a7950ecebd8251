// SPDX-License-Identifier: Apache-2.0
#include "intake.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

namespace assay::hooks {
namespace {

/// What a name costs beside its text, with the sink's share.
constexpr size_t kNameBytes = 512;
constexpr uint32_t kNone = UINT32_MAX;

ReportKind kind_of(std::string_view text) {
  if (text == "timer") return ReportKind::timer;
  if (text == "rate") return ReportKind::rate;
  return text == "counter" ? ReportKind::counter : ReportKind::number;
}

class ReportIntake final : public Intake {
 public:
  ReportIntake(ReportSink& sink, const Caller& caller, size_t max_names, Budget& budget)
      : sink_(sink), id_(sink.caller_connected(caller)), max_names_(max_names), budget_(budget) {}
  ReportIntake(const ReportIntake&) = delete;
  ReportIntake& operator=(const ReportIntake&) = delete;
  ~ReportIntake() override { sink_.caller_gone(id_); }

  void name_app(const Reading& reading, Losses& losses) override;
  void name_slot(const Reading& reading, Losses& losses) override;
  bool name_histogram(const Reading& reading, Losses& losses) override;
  void take(const Reading& reading, const Arrival& arrival, Losses& losses) override;
  void take(const Event& event, const Arrival& arrival, Losses& losses) override;
  void take_durations(uint32_t histogram, const Histogram& added, const Arrival& arrival) override;
  void end_visit(const Arrival& arrival) override;
  void tell(Losses& losses) override { losses.tell(sink_, id_); }

 private:
  struct Metric {
    ReportId id{};
    ReportKind kind = ReportKind::number;
    std::string unit;
    double factor = 1;
    Timestamp last;
    std::unique_ptr<Histogram> waiting;  ///< durations that came one by one since the last visit
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  uint32_t find_or_add(const Reading& reading, Losses& losses);
  uint32_t add(const Reading& reading);
  bool name_index(std::vector<uint32_t>& numbers, const Reading& reading, Losses& losses);
  void record(Metric& metric, double value, double time, const Arrival& arrival, Losses& losses);
  void add_duration(Metric& metric, double seconds, Losses& losses);

  ReportSink& sink_;
  CallerId id_;
  size_t max_names_;
  Budget& budget_;
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> names_;
  std::vector<Metric> metrics_;
  std::vector<uint32_t> slots_;
  std::vector<uint32_t> histograms_;
};

void ReportIntake::name_app(const Reading& reading, Losses& losses) {
  if (reading.name.empty() || !is_plain_text(reading.name)) return losses.add(Trouble::bad_name);
  sink_.caller_named(id_, reading.name);
}

uint32_t ReportIntake::find_or_add(const Reading& reading, Losses& losses) {
  if (const auto found = names_.find(reading.name); found != names_.end()) return found->second;
  if (const auto trouble = trouble_with(reading.name)) {
    losses.add(*trouble);
  } else if (metrics_.size() >= max_names_) {
    losses.add(Trouble::too_many_names);
  } else if (!budget_.take(kNameBytes + reading.name.size())) {
    losses.add(Trouble::no_room);
  } else {
    return add(reading);
  }
  return kNone;
}

uint32_t ReportIntake::add(const Reading& reading) {
  const auto index = static_cast<uint32_t>(metrics_.size());
  const Unit unit = first_unit(reading);
  Metric& metric = metrics_.emplace_back();
  metric.kind = kind_of(reading.kind);
  metric.unit = unit.name;
  metric.factor = unit.factor;
  metric.id = sink_.declare(id_, {std::string(reading.name), metric.unit, metric.kind});
  names_.emplace(reading.name, index);
  return index;
}

bool ReportIntake::name_index(std::vector<uint32_t>& numbers, const Reading& reading,
                              Losses& losses) {
  if (reading.index >= max_names_) {
    losses.add(Trouble::too_many_names);
    return false;
  }
  const uint32_t metric = find_or_add(reading, losses);
  if (metric == kNone) return false;
  if (numbers.size() <= reading.index) numbers.resize(reading.index + 1, kNone);
  numbers[reading.index] = metric;
  return true;
}

void ReportIntake::name_slot(const Reading& reading, Losses& losses) {
  name_index(slots_, reading, losses);
}

bool ReportIntake::name_histogram(const Reading& reading, Losses& losses) {
  if (!name_index(histograms_, reading, losses)) return false;
  uint32_t& metric = histograms_[reading.index];
  if (metrics_[metric].kind == ReportKind::timer) return true;
  losses.add(Trouble::other_kind);
  metric = kNone;
  return false;
}

void ReportIntake::take(const Reading& reading, const Arrival& arrival, Losses& losses) {
  const uint32_t index = find_or_add(reading, losses);
  if (index == kNone) return;
  Metric& metric = metrics_[index];
  const auto factor = factor_to(metric.unit, metric.factor, reading);
  if (!factor) return losses.add(Trouble::other_unit);
  record(metric, reading.value * *factor, reading.time, arrival, losses);
}

void ReportIntake::take(const Event& event, const Arrival& arrival, Losses& losses) {
  if (event.slot >= slots_.size() || slots_[event.slot] == kNone) {
    return losses.add(Trouble::unknown_slot);
  }
  Metric& metric = metrics_[slots_[event.slot]];
  record(metric, event.value * metric.factor, event.time, arrival, losses);
}

void ReportIntake::record(Metric& metric, double value, double time, const Arrival& arrival,
                          Losses& losses) {
  if (metric.kind == ReportKind::timer) return add_duration(metric, value, losses);
  metric.last = std::max(metric.last, time_of(time, arrival, losses));
  sink_.value(id_, metric.id, metric.last, value);
}

void ReportIntake::add_duration(Metric& metric, double seconds, Losses& losses) {
  if (seconds < 0) return losses.add(Trouble::out_of_range);
  if (metric.waiting == nullptr) {
    if (!budget_.take(sizeof(Histogram))) return losses.add(Trouble::no_room);
    metric.waiting = std::make_unique<Histogram>();
  }
  const size_t group = Histogram::bucket_of(seconds) / Histogram::kGroupSize;
  if (!metric.waiting->has_group(group) && !budget_.take(sizeof(Histogram::Group))) {
    return losses.add(Trouble::no_room);
  }
  metric.waiting->add(seconds);
}

void ReportIntake::take_durations(uint32_t histogram, const Histogram& added,
                                  const Arrival& arrival) {
  if (histogram >= histograms_.size() || histograms_[histogram] == kNone) return;
  sink_.durations(id_, metrics_[histograms_[histogram]].id, arrival.time, added);
}

void ReportIntake::end_visit(const Arrival& arrival) {
  for (const Metric& metric : metrics_) {
    if (metric.waiting == nullptr || metric.waiting->count() == 0) continue;
    sink_.durations(id_, metric.id, arrival.time, *metric.waiting);
    metric.waiting->clear();
  }
}

class ReportIntakes final : public Intakes {
 public:
  ReportIntakes(ReportSink& sink, const Limits& limits) : sink_(sink), names_(limits.names) {}
  std::unique_ptr<Intake> meet(const Caller& caller, Budget& budget) override {
    return std::make_unique<ReportIntake>(sink_, caller, names_, budget);
  }
  void tell(Losses& losses) override { losses.tell(sink_, std::nullopt); }
  bool wants_histograms() const override { return true; }
  const std::map<std::string, double>& latest() const override { return nothing_; }

 private:
  ReportSink& sink_;
  size_t names_;
  std::map<std::string, double> nothing_;
};

}  // namespace

std::unique_ptr<Intakes> intakes_for(ReportSink& sink, const Limits& limits) {
  return std::make_unique<ReportIntakes>(sink, limits);
}

}  // namespace assay::hooks
