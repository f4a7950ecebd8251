// SPDX-License-Identifier: Apache-2.0
#include "series/job_evidence.h"
#include "series/job_features.h"
#include "series/job_kind_weights.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <assay/analysis/job_kind.h>

namespace assay::analysis {
namespace {

using job_kind_weights::Weights;

static_assert(std::tuple_size_v<decltype(Weights::features)> == kJobFeatures);

constexpr double kFurthest = 3;  // in standard deviations; as the weights are learned
constexpr double kLeastStrength = 0.1;
/// In means of so long, pauses that a person makes are hardly seen any more.
constexpr double kSlow = 15;

const Weights& weights_for(const JobSeries& job) {
  const bool slow = std::max(job.step_seconds, job.window_seconds) >= kSlow;
  return slow ? job_kind_weights::kSlow : job_kind_weights::kFast;
}

/// What is not known is taken for average, which speaks for no kind.
JobFeatures standardized(const JobFeatures& features, const Weights& weights) {
  JobFeatures result{};
  for (size_t i = 0; i < kJobFeatures; ++i) {
    const auto& learned = weights.features[i];
    const double z = (features[i] - learned.mean) / learned.spread;
    result[i] = std::isfinite(z) ? std::clamp(z, -kFurthest, kFurthest) : 0;
  }
  return result;
}

std::array<double, kJobKinds> probabilities(const JobFeatures& z, const Weights& weights) {
  std::array<double, kJobKinds> scores = weights.constant;
  for (size_t k = 0; k < kJobKinds; ++k)
    for (size_t i = 0; i < kJobFeatures; ++i) scores[k] += weights.features[i].weights[k] * z[i];
  const double highest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& s : scores) sum += s = std::exp(s - highest);
  for (double& s : scores) s /= sum;
  return scores;
}

std::vector<JobEvidence> evidence_for(size_t kind, const JobFeatures& z, const Weights& weights,
                                      const JobFacts& facts) {
  std::vector<JobEvidence> result;
  for (size_t i = 0; i < kJobFeatures; ++i) {
    const double strength = weights.features[i].weights[kind] * z[i];
    if (strength < kLeastStrength) continue;
    result.push_back({sentence_about(static_cast<JobFeature>(i), facts), strength});
  }
  std::stable_sort(result.begin(), result.end(), [](const JobEvidence& a, const JobEvidence& b) {
    return a.strength > b.strength;
  });
  return result;
}

}  // namespace

std::string_view name_of(JobKind kind) {
  constexpr std::array<std::string_view, kJobKinds> kNames = {"training", "inference",
                                                              "interactive", "data preparation"};
  return kNames[static_cast<size_t>(kind)];
}

JobKindFinding kind_of_job(const JobSeries& job) {
  JobKindFinding finding;
  const JobFacts facts = facts_of(job);
  if (facts.samples < kFewestSamples || !std::isfinite(facts.idle_share)) return finding;
  const Weights& weights = weights_for(job);
  const JobFeatures z = standardized(features_of(facts), weights);
  finding.probability = probabilities(z, weights);
  const auto best = std::max_element(finding.probability.begin(), finding.probability.end());
  const auto kind = static_cast<size_t>(best - finding.probability.begin());
  finding.confidence = *best;
  finding.evidence = evidence_for(kind, z, weights, facts);
  if (finding.confidence >= kLeastConfidence) finding.kind = static_cast<JobKind>(kind);
  return finding;
}

}  // namespace assay::analysis
