// SPDX-License-Identifier: Apache-2.0
#include "trial_told.h"

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

class NoRecorder final : public store::Recorder {
 public:
  SeriesId declare(const SeriesInfo& /*info*/) override { return static_cast<SeriesId>(next_++); }
  void sample(SeriesId /*id*/, Timestamp /*time*/, double /*value*/) override {}
  void lost(const Loss& /*loss*/) override {}
  std::optional<Error> error() const override { return std::nullopt; }
  Result<std::vector<Loss>> finish() override { return std::vector<Loss>(); }

 private:
  int next_ = 0;
};

/// The throughput of an app that reports 10, 20, 30 at one value a second.
double throughput_with(const Labels& labels) {
  TrialSink sink(std::make_unique<NoRecorder>(), "fps");
  SeriesInfo info;
  info.name = "fps";
  info.kind = Kind::event;
  info.labels = labels;
  const auto id = sink.declare(info);
  const Timestamp start = from_unix_ns(1'000'000'000'000);
  for (int i = 1; i <= 3; ++i) sink.sample(id, start + std::chrono::seconds(i), 10.0 * i);
  Told told;
  sink.tell(start, start + std::chrono::seconds(10), told);
  return told.throughput ? told.throughput->value : -1;
}

TEST(TrialSink, only_the_label_of_the_kind_says_that_a_value_counts) {
  EXPECT_NEAR(throughput_with({{"kind", "counter"}}), 10, 1e-9) << "by its slope";
  EXPECT_NEAR(throughput_with({}), 20, 1e-9) << "by its median";
  EXPECT_NEAR(throughput_with({{"camera", "counter"}}), 20, 1e-9);
}

}  // namespace
}  // namespace assay::cluster
