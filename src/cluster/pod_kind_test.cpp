// SPDX-License-Identifier: Apache-2.0
#include "pod_kind.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using analysis::JobKind;
using analysis::JobKindFinding;

JobKindFinding finding(double training, double inference) {
  JobKindFinding found;
  found.probability = {training, inference, 1 - training - inference, 0};
  found.confidence = std::max(training, inference);
  if (found.confidence >= analysis::kLeastConfidence)
    found.kind = training >= inference ? JobKind::training : JobKind::inference;
  found.evidence = {{training >= inference ? "it trains" : "it answers", 1}};
  return found;
}

TEST(PodKind, stays_until_another_is_clearly_likelier) {
  Findings found;
  take_kind(finding(0.5, 0.45), found);
  EXPECT_EQ(found.kind, "training");
  for (int i = 0; i < 10; ++i) {
    take_kind(i % 2 ? finding(0.5, 0.46) : finding(0.46, 0.5), found);
    EXPECT_EQ(found.kind, "training");
    EXPECT_EQ(found.evidence, "it trains");
  }
  EXPECT_EQ(found.kind_confidence, 0.5);
  take_kind(finding(0.4, 0.55), found);
  EXPECT_EQ(found.kind, "inference");
  EXPECT_EQ(found.evidence, "it answers");
}

TEST(PodKind, is_unknown_when_it_can_no_longer_be_told) {
  Findings found;
  take_kind(finding(0.46, 0.2), found);
  take_kind(finding(0.44, 0.2), found);
  EXPECT_EQ(found.kind, "training") << "a little below what is needed";
  EXPECT_EQ(found.kind_confidence, 0.44);
  take_kind(finding(0.34, 0.3), found);
  EXPECT_EQ(found.kind, "");
  take_kind(finding(0.44, 0.2), found);
  EXPECT_EQ(found.kind, "") << "from there, all of it is needed";
}

}  // namespace
}  // namespace assay::cluster
