// SPDX-License-Identifier: Apache-2.0
#include "intake.h"
#include "recorder.h"

#include <cmath>
#include <vector>

namespace assay::hooks {
namespace {

constexpr size_t kSlotBytes = 128;

class SampleIntake final : public Intake {
 public:
  SampleIntake(SampleSink& sink, Recorder& recorder, Caller caller, size_t max_slots,
               Budget& budget)
      : sink_(sink),
        recorder_(recorder),
        caller_(std::move(caller)),
        max_slots_(max_slots),
        budget_(budget) {}

  void name_app(const Reading&, Losses&) override {}
  void name_slot(const Reading& reading, Losses& losses) override;
  bool name_histogram(const Reading&, Losses&) override { return false; }
  void take(const Reading& reading, const Arrival& arrival, Losses& losses) override {
    recorder_.record(reading, caller_, arrival, losses);
  }
  void take(const Event& event, const Arrival& arrival, Losses& losses) override;
  void take_durations(uint32_t, const Histogram&, const Arrival&) override {}
  void end_visit(const Arrival&) override {}
  void tell(Losses& losses) override { losses.tell(sink_); }

 private:
  struct Slot {
    std::string name;
    std::string kind;
  };
  SampleSink& sink_;
  Recorder& recorder_;
  Caller caller_;
  size_t max_slots_;
  Budget& budget_;
  std::vector<Slot> slots_;
};

void SampleIntake::name_slot(const Reading& reading, Losses& losses) {
  if (reading.index >= max_slots_) return losses.add(Trouble::too_many_names);
  if (!budget_.take(kSlotBytes + reading.name.size())) return losses.add(Trouble::no_room);
  if (slots_.size() <= reading.index) slots_.resize(reading.index + 1);
  slots_[reading.index] = {std::string(reading.name), std::string(reading.kind)};
}

void SampleIntake::take(const Event& event, const Arrival& arrival, Losses& losses) {
  if (event.slot >= slots_.size() || slots_[event.slot].name.empty()) {
    return losses.add(Trouble::unknown_slot);
  }
  const Slot& slot = slots_[event.slot];
  recorder_.record({slot.name, event.value, event.time, {}, slot.kind}, caller_, arrival, losses);
}

class SampleIntakes final : public Intakes {
 public:
  SampleIntakes(SampleSink& sink, const Limits& limits)
      : sink_(sink), names_(limits.names), recorder_(sink, limits.names) {}
  std::unique_ptr<Intake> meet(const Caller& caller, Budget& budget) override {
    return std::make_unique<SampleIntake>(sink_, recorder_, caller, names_, budget);
  }
  void tell(Losses& losses) override { losses.tell(sink_); }
  bool wants_histograms() const override { return false; }
  const std::map<std::string, double>& latest() const override { return recorder_.latest(); }

 private:
  SampleSink& sink_;
  size_t names_;
  Recorder recorder_;
};

}  // namespace

std::unique_ptr<Intakes> intakes_for(SampleSink& sink, const Limits& limits) {
  return std::make_unique<SampleIntakes>(sink, limits);
}

}  // namespace assay::hooks
