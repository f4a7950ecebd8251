// SPDX-License-Identifier: Apache-2.0
#include <assay/samples/series.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(MemorySeries, gives_back_what_was_pushed) {
  MemorySeries memory;
  const auto info = describe(MetricId::memory_bytes, Scope::app, "test");
  const SeriesId id = memory.declare(info);
  EXPECT_EQ(memory.declare(info), id);
  EXPECT_NE(memory.declare(describe(MetricId::memory_bytes, Scope::node, "test")), id);
  memory.sample(id, from_unix_ns(5), 1.5);
  const auto series = memory.read(0).value();
  EXPECT_EQ(series.info.unit, "bytes");
  EXPECT_EQ(series.values, std::vector<double>{1.5});
  EXPECT_EQ(memory.find("memory_bytes", Scope::node)->times.size(), 0U);
  EXPECT_EQ(memory.find("none"), nullptr);
  EXPECT_FALSE(memory.read(9));
}

TEST(AddLoss, adds_up_by_source_and_reason) {
  std::vector<Loss> losses;
  add_loss(losses, {"hooks", "not JSON", 2});
  add_loss(losses, {"hooks", "not JSON", 3});
  add_loss(losses, {"sampler", "late", 1});
  EXPECT_EQ(losses, (std::vector<Loss>{{"hooks", "not JSON", 5}, {"sampler", "late", 1}}));
}

}  // namespace
}  // namespace assay
