// SPDX-License-Identifier: Apache-2.0
#include <assay/sampler/sampler.h>
#include <gtest/gtest.h>

namespace assay::sampler {
namespace {

using probes::Pace;

/// A probe that pushes its own read count and takes `cost` of the manual clock's time.
class FakeProbe final : public probes::Probe {
 public:
  FakeProbe(ManualClock& clock, Pace pace, Nanoseconds cost = {})
      : clock_(clock), pace_(pace), cost_(cost) {}
  std::string_view name() const override { return "fake"; }
  Pace pace() const override { return pace_; }
  Result<void> open(SampleSink& sink) override {
    if (!opens) return refused("no such sensor");
    id_ = sink.declare({"reads", "", Kind::gauge, Scope::node, "test", {}});
    return {};
  }
  Result<void> sample(const Clock& clock, SampleSink& sink) override {
    if (++reads_ == fails_at) return refused("file vanished");
    sink.sample(id_, clock.now(), reads_);
    clock_.advance(cost_);
    return {};
  }
  std::vector<NotMeasured> not_measured() const override { return gaps; }

  bool opens = true;
  int fails_at = 0;
  std::vector<NotMeasured> gaps;

 private:
  ManualClock& clock_;
  Pace pace_;
  Nanoseconds cost_;
  SeriesId id_{};
  int reads_ = 0;
};

class SamplerTest : public testing::Test {
 protected:
  static constexpr Nanoseconds kInterval = Milliseconds(100);

  Sampler& with(std::unique_ptr<FakeProbe> probe) {
    probes::Probes probes;
    probes.push_back(std::move(probe));
    sampler_ = std::make_unique<Sampler>(std::move(probes), clock_, memory_, kInterval);
    sampler_->open();
    return *sampler_;
  }
  void beat_when_due(int beats, Nanoseconds late = {}) {
    for (int i = 0; i < beats; ++i) {
      if (sampler_->next() + late > clock_.now())
        clock_.advance(sampler_->next() + late - clock_.now());
      sampler_->beat();
    }
  }
  size_t reads() const { return memory_.find("reads", Scope::node)->values.size(); }

  ManualClock clock_{from_unix_ns(1'000'000'000)};
  MemorySeries memory_;
  std::unique_ptr<Sampler> sampler_;
};

TEST_F(SamplerTest, lateness_never_adds_up) {
  auto& sampler = with(std::make_unique<FakeProbe>(clock_, Pace::beat));
  beat_when_due(50, Milliseconds(30));
  EXPECT_EQ(sampler.next(), from_unix_ns(1'000'000'000) + 50 * kInterval);
  EXPECT_EQ(sampler.stats().late_beats, 0U);
  EXPECT_EQ(sampler.stats().achieved_interval, kInterval);
  EXPECT_EQ(sampler.stats().worst_lateness, Milliseconds(30));
}

TEST_F(SamplerTest, samples_carry_their_true_time) {
  with(std::make_unique<FakeProbe>(clock_, Pace::beat));
  beat_when_due(1, Milliseconds(70));
  EXPECT_EQ(memory_.find("reads", Scope::node)->times[0], from_unix_ns(1'070'000'000));
  EXPECT_EQ(sampler_->stats().late_beats, 1U);
}

TEST_F(SamplerTest, missed_beats_are_skipped_and_counted) {
  auto& sampler = with(std::make_unique<FakeProbe>(clock_, Pace::beat));
  beat_when_due(1);
  clock_.advance(Milliseconds(350));
  sampler.beat();
  EXPECT_EQ(sampler.next(), from_unix_ns(1'400'000'000));
  ASSERT_EQ(memory_.losses().size(), 1U);
  EXPECT_EQ(memory_.losses()[0].count, 2U);
}

TEST_F(SamplerTest, a_slow_probe_is_read_once_a_second) {
  with(std::make_unique<FakeProbe>(clock_, Pace::slow));
  beat_when_due(31);
  EXPECT_EQ(reads(), 4U);
  sampler_->last_beat();
  EXPECT_EQ(reads(), 5U) << "the last beat reads everything";
}

TEST_F(SamplerTest, a_probe_that_cannot_open_is_listed_once) {
  auto probe = std::make_unique<FakeProbe>(clock_, Pace::beat);
  probe->opens = false;
  auto& sampler = with(std::move(probe));
  beat_when_due(3);
  EXPECT_EQ(sampler.not_measured(), (std::vector<NotMeasured>{{"fake", "no such sensor"}}));
  EXPECT_EQ(memory_.find("reads", Scope::node), nullptr);
}

TEST_F(SamplerTest, a_probe_that_fails_is_dropped_and_said_once) {
  auto probe = std::make_unique<FakeProbe>(clock_, Pace::beat);
  probe->fails_at = 3;
  probe->gaps = {{"part", "absent"}};
  auto& sampler = with(std::move(probe));
  beat_when_due(6);
  EXPECT_EQ(reads(), 2U);
  EXPECT_EQ(sampler.not_measured(),
            (std::vector<NotMeasured>{{"part", "absent"},
                                      {"fake", "stopped during the run: file vanished"}}));
}

TEST_F(SamplerTest, slows_down_when_reading_is_dear) {
  auto& sampler = with(std::make_unique<FakeProbe>(clock_, Pace::beat, Milliseconds(25)));
  beat_when_due(11);
  const Timestamp before = sampler.next();
  beat_when_due(1);
  EXPECT_EQ(sampler.next() - before, 2 * kInterval);
  EXPECT_EQ(memory_.losses().at(0).source, "sampler");
}

TEST_F(SamplerTest, tells_its_own_cost) {
  with(std::make_unique<FakeProbe>(clock_, Pace::beat));
  beat_when_due(2);
  EXPECT_GT(memory_.find("profiler_memory_bytes", Scope::profiler)->values.at(0), 1e5);
  EXPECT_GE(memory_.find("profiler_cpu_seconds_total", Scope::profiler)->values.at(0), 0);
}

}  // namespace
}  // namespace assay::sampler
