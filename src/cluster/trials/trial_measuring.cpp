// SPDX-License-Identifier: Apache-2.0
#include "trial_measuring.h"

#include "log_rate.h"
#include "trial_metrics.h"

#include <cmath>
#include <fmt/format.h>

namespace assay::cluster {
namespace {

bool reads_logs(const Measure& measure) {
  return measure.metric.empty() && !measure.log_pattern.empty();
}

/// `why`: that there is no rate, of a pod without one.
Result<void> measure_logs(const TrialSettings& settings, TrialPods& pods, TrialResult& result,
                          std::string& why) {
  net::Stopper stopper;
  ASSAY_TRY(const auto pattern, LogPattern::compile(settings.measure.log_pattern));
  result.source = "its log";
  double variance = 0;
  for (const auto& pod : result.pods) {
    ASSAY_TRY(const auto log, pods.log(pod, stopper));
    const auto numbers = numbers_in(log, pattern);
    const bool counts = settings.measure.log_counts;
    const auto rate = rate_of(numbers, counts, result.begin, result.end_time);
    if (!rate) {
      why = why_no_rate(numbers, counts, result.begin, result.end_time);
      continue;
    }
    result.throughput.value += rate->value;
    variance += std::pow(rate->value * rate->sd, 2);
  }
  if (result.throughput.value > 0)
    result.throughput.sd = std::sqrt(variance) / result.throughput.value;
  return {};
}

}  // namespace

Result<void> check_measure(const Measure& measure) {
  ASSAY_CHECK(check_metric(measure.metric));
  if (measure.log_pattern.empty()) return {};
  ASSAY_TRY([[maybe_unused]] const auto pattern, LogPattern::compile(measure.log_pattern));
  return {};
}

Result<void> measure_trial(const TrialSettings& settings, const Witnesses& witnesses,
                           TrialResult& result) {
  net::Stopper stopper;
  Result<void> asked;
  std::string why;
  if (witnesses.queries != nullptr)
    asked = ask_prometheus(*witnesses.queries, settings, result, stopper);
  if (!asked) asked.error().message = "Prometheus could not be asked: " + asked.error().message;
  if (reads_logs(settings.measure)) {
    // The logs of some pods would be taken for those of all.
    asked = measure_logs(settings, witnesses.pods, result, why);
    if (!asked) result.throughput = {};
  }
  if (witnesses.history != nullptr) {
    witnesses.history->measure(settings, result);
    const auto unheard = witnesses.history->unheard(result);
    if (asked && witnesses.queries == nullptr && !settings.measure.metric.empty() &&
        !unheard.empty())
      asked = refused(unheard);
  }
  const double rate = result.throughput.value;
  if (!(rate > 0) && !asked) {
    // That says nothing about the choice.
    result.end = TrialEnd::lost;
    result.reason = asked.error().message;
    return {};
  }
  if (!(rate > 0)) {
    result.end = TrialEnd::lost;  // it ran
    if (why.empty())
      why = (result.source.empty() ? "its agent" : result.source) + " has no numbers above 0";
    result.reason = "it ran, but its throughput could not be measured: " + why;
    return {};
  }
  const double price = price_of(settings.prices, result.choice);
  if (price > 0) result.unit_cost = price / 3600 / rate;
  if (result.watts) result.unit_joules = *result.watts / rate;
  return {};
}

}  // namespace assay::cluster
