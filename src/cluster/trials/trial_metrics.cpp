// SPDX-License-Identifier: Apache-2.0
#include "trial_metrics.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

#include <assay/base/wording.h>

namespace assay::cluster {
namespace {

constexpr double kMebibyte = 1024.0 * 1024;
constexpr Nanoseconds kStep = std::chrono::seconds(5);
/// Values that follow each other are alike, so that a mean is less exact than it looks.
constexpr double kAlike = 2;

/// What NVIDIA's exporter tells, but not what it writes where it knows nothing: 2^47 or the largest
/// of its numbers, by version. These are percent, MiB and watts.
constexpr const char *kGpuUse = "DCGM_FI_DEV_GPU_UTIL{} <= 100",
                     *kGpuMemory = "DCGM_FI_DEV_FB_USED{} < 1e8",
                     *kPower = "DCGM_FI_DEV_POWER_USAGE{} < 1e6";

/// A kubelet also tells of the pod as a whole.
constexpr const char* kContainers = R"(,container!="",container!="POD")";

struct Values {
  double mean = 0;
  double most = 0;
  double error = 0;  ///< relative, of the mean
};

class Asking {
 public:
  Asking(promapi::Queries& queries, const TrialSettings& settings, const TrialResult& result,
         net::Stopper& stopper)
      : queries_(queries), stopper_(stopper), range_{result.begin, result.end_time, kStep} {
    std::string pods;
    for (const auto& pod : result.pods) {
      if (!pods.empty()) pods += '|';
      for (const char c : pod) pods += c == '.' ? std::string("[.]") : std::string(1, c);
    }
    // Prometheus keeps an exporter's own labels beside those of its target under another name.
    for (const char* prefix : {"", "exported_"})
      selectors_.push_back(fmt::format(R"({0}namespace="{1}",{0}pod=~"{2}")", prefix,
                                       settings.copy.name_space, pods));
  }

  /// The first of the expressions that has values; "{}" in them stands for the pods, and so does
  /// "{each}" for their containers.
  Result<std::optional<Values>> ask(const std::vector<std::string>& expressions) {
    for (const auto& expression : expressions) {
      for (const auto& selector : selectors_) {
        std::string text = expression;
        for (const auto& [mark, more] : {std::pair("{}", ""), std::pair("{each}", kContainers)})
          if (const auto at = text.find(mark); at != std::string::npos)
            text.replace(at, std::string_view(mark).size(), "{" + selector + more + "}");
        ASSAY_TRY(const auto answer, queries_.range(text, range_, &stopper_));
        if (const auto values = values_of(answer)) return values;
      }
    }
    return std::optional<Values>();
  }

 private:
  static std::optional<Values> values_of(const promapi::RangeAnswer& answer) {
    std::map<Timestamp, double> sums;
    for (const auto& series : answer.series)
      for (const auto& [time, value] : series.samples)
        if (std::isfinite(value)) sums[time] += value;
    if (sums.empty()) return std::nullopt;
    const auto n = static_cast<double>(sums.size());
    Values values;
    for (const auto& [time, value] : sums) {
      values.mean += value / n;
      values.most = std::max(values.most, value);
    }
    double misses = 0;
    for (const auto& [time, value] : sums) misses += std::pow(value - values.mean, 2);
    if (n > 2 && values.mean > 0)
      values.error = kAlike * std::sqrt(misses / (n - 1) / n) / values.mean;
    return values;
  }

  promapi::Queries& queries_;
  net::Stopper& stopper_;
  promapi::QueryRange range_;
  std::vector<std::string> selectors_;
};

/// Over which a counter's rate is taken.
std::string window_of(const TrialSettings& settings) {
  return fmt::format("{:.0f}s", std::clamp(seconds(settings.time) / 3, 20.0, 300.0));
}

Result<void> ask_throughput(Asking& asking, const TrialSettings& settings, TrialResult& result) {
  const std::string& metric = settings.measure.metric;
  if (metric.empty() && !settings.measure.log_pattern.empty()) return {};
  std::vector<std::string> expressions = {fmt::format("sum({})/100", kGpuUse)};
  result.source = "DCGM_FI_DEV_GPU_UTIL";
  if (!metric.empty()) {
    result.source = "assay_app_" + metric;
    expressions = {
        fmt::format("sum(assay_app_{}{{}})", metric),
        fmt::format("sum(rate(assay_app_{}_total{{}}[{}]))", metric, window_of(settings))};
  }
  ASSAY_TRY(const auto values, asking.ask(expressions));
  if (values && values->mean > 0) result.throughput = {values->mean, values->error};
  return {};
}

}  // namespace

Result<void> check_metric(const std::string& name) {
  const bool good = std::all_of(name.begin(), name.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
  if (good) return {};
  return bad_input(
      fmt::format("{} cannot be a metric: its name has letters, digits and '_'", in_quotes(name)));
}

Result<void> ask_prometheus(promapi::Queries& queries, const TrialSettings& settings,
                            TrialResult& result, net::Stopper& stopper) {
  Asking asking(queries, settings, result, stopper);
  ASSAY_CHECK(ask_throughput(asking, settings, result));
  const bool cpu = settings.copy.resource == "cpu";
  std::vector<std::string> busy = {fmt::format("avg({})/100", kGpuUse)};
  std::vector<std::string> memory = {fmt::format("sum({})", kGpuMemory)};
  if (cpu) {
    // Of a kubelet and an agent that tell of the same, one is enough.
    busy = {fmt::format(
        "max(sum by (job, metrics_path) (rate(container_cpu_usage_seconds_total{{each}}[{}])))/{}",
        window_of(settings), result.choice.count)};
    memory = {"max(sum by (job, metrics_path) (container_memory_working_set_bytes{each}))"};
  }
  ASSAY_TRY(const auto utilization, asking.ask(busy));
  if (utilization) result.utilization = utilization->mean;
  ASSAY_TRY(const auto bytes, asking.ask(memory));
  if (bytes) result.memory_bytes = bytes->most * (cpu ? 1 : kMebibyte);
  if (cpu) return {};
  ASSAY_TRY(const auto watts, asking.ask({fmt::format("sum({})", kPower)}));
  if (watts) result.watts = watts->mean;
  return {};
}

}  // namespace assay::cluster
