// SPDX-License-Identifier: Apache-2.0
#include "series/job_features.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::analysis {
namespace {

using Values = std::vector<double>;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kStartShare = 0.15;
constexpr double kLongestStart = 600;
constexpr double kFinestStep = 1;
constexpr double kMostAtOnce = 1e6;  // samples that are averaged
/// Idle is below a tenth of what the job uses at work, within these bounds in cores.
constexpr double kIdleShareOfPeak = 0.1;
constexpr double kLeastIdleCores = 0.005;
constexpr double kMostIdleCores = 0.2;
constexpr double kIdleGpu = 0.05;
constexpr double kLeastSwing = 0.01;
constexpr double kLeastDiskUse = 1e-6;  // of the memory, each second
/// What is written is a small result when it is less than this share of what comes in.
constexpr double kSmallResult = 0.05;
constexpr double kTrafficShareOfMean = 0.1;
/// Who sends less than this share of what it receives only asks for data.
constexpr double kLeastAnswer = 1e-3;

double known_or(double value, double otherwise) {
  return std::isfinite(value) ? value : otherwise;
}

double at(const Values& values, size_t i) {
  return i < values.size() ? values[i] : kUnknown;
}

Values known(const Values& values) {
  Values result;
  for (const double v : values)
    if (std::isfinite(v)) result.push_back(v);
  return result;
}

double mean(const Values& values) {
  double sum = 0;
  size_t count = 0;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    sum += v;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : kUnknown;
}

double swing(const Values& values) {
  const double middle = mean(values);
  if (!(middle > 0)) return kUnknown;
  Values squares;
  for (const double v : values) squares.push_back((v - middle) * (v - middle));
  return std::sqrt(mean(squares)) / middle;
}

double quantile(const Values& values, double q) {
  Values sorted = known(values);
  if (sorted.empty()) return kUnknown;
  std::sort(sorted.begin(), sorted.end());
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<size_t>(std::lround(q * last))];
}

double share_above(const Values& values, double bound) {
  Values marks;
  for (const double v : values) marks.push_back(std::isfinite(v) ? double(v >= bound) : kUnknown);
  return mean(marks);
}

Values coarser(const Values& values, size_t factor) {
  Values result;
  for (size_t i = 0; i < values.size(); i += factor) {
    const size_t end = std::min(i + factor, values.size());
    result.push_back(mean({values.begin() + static_cast<ptrdiff_t>(i),
                           values.begin() + static_cast<ptrdiff_t>(end)}));
  }
  return result;
}

/// Calls `change` for every series of the job.
template <typename Change>
void for_each_series(JobSeries& job, Change change) {
  for (Values* series :
       {&job.cpu_cores, &job.memory_bytes, &job.disk_read_bytes_per_second,
        &job.disk_write_bytes_per_second, &job.network_receive_bytes_per_second,
        &job.network_transmit_bytes_per_second, &job.gpu_utilization_ratio, &job.gpu_memory_bytes})
    change(*series);
}

size_t length_of(JobSeries& job) {
  size_t longest = 0;
  for_each_series(job, [&](const Values& v) { longest = std::max(longest, v.size()); });
  return longest;
}

void make_coarse(JobSeries& job) {
  if (!(job.step_seconds > 0) || job.step_seconds >= kFinestStep) return;
  const auto factor =
      static_cast<size_t>(std::min(kMostAtOnce, std::ceil(kFinestStep / job.step_seconds - 1e-6)));
  for_each_series(job, [&](Values& v) { v = coarser(v, factor); });
  job.step_seconds *= static_cast<double>(factor);
}

void leave_out_start(JobSeries& job, size_t samples) {
  const double start = std::min(kStartShare * static_cast<double>(samples),
                                kLongestStart / std::max(job.step_seconds, kFinestStep));
  const auto count = static_cast<size_t>(start);
  for_each_series(job, [&](Values& v) {
    v.erase(v.begin(), v.begin() + static_cast<ptrdiff_t>(std::min(count, v.size())));
  });
}

enum class Activity : uint8_t { unknown, idle, work };

Activity activity_of(double cores, double gpu, double idle_cores) {
  if (!std::isfinite(cores) && !std::isfinite(gpu)) return Activity::unknown;
  const bool idle = known_or(cores, 0) < idle_cores && known_or(gpu, 0) < kIdleGpu;
  return idle ? Activity::idle : Activity::work;
}

std::vector<Activity> activities(const JobSeries& job, size_t samples) {
  const double peak = quantile(job.cpu_cores, 0.99);
  const double idle_cores =
      std::clamp(kIdleShareOfPeak * known_or(peak, 0), kLeastIdleCores, kMostIdleCores);
  std::vector<Activity> result;
  for (size_t i = 0; i < samples; ++i)
    result.push_back(
        activity_of(at(job.cpu_cores, i), at(job.gpu_utilization_ratio, i), idle_cores));
  return result;
}

double idle_share(const std::vector<Activity>& all) {
  const auto idle = static_cast<double>(std::count(all.begin(), all.end(), Activity::idle));
  const auto work = static_cast<double>(std::count(all.begin(), all.end(), Activity::work));
  return idle + work > 0 ? idle / (idle + work) : kUnknown;
}

double waits_share(const JobSeries& job, const std::vector<Activity>& all) {
  Values waits;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] == Activity::unknown) continue;
    const double cores = known_or(at(job.cpu_cores, i), 0);
    const double load = std::max(cores, known_or(at(job.gpu_utilization_ratio, i), 0));
    waits.push_back(all[i] == Activity::work ? std::max(0.0, 1 - load) : 0);
  }
  return mean(waits);
}

Values burst_lengths(const std::vector<Activity>& all, double step) {
  Values lengths;
  bool working = false;
  for (const Activity a : all) {
    if (a == Activity::unknown) continue;
    if (a == Activity::work && !working) lengths.push_back(0);
    working = a == Activity::work;
    if (working) lengths.back() += step;
  }
  return lengths;
}

/// The share of the CPU time that is spent while at least a tenth of the mean is moved.
double work_share(const Values& cores, const Values& rates) {
  const double middle = mean(rates);
  double all = 0;
  double moving = 0;
  for (size_t i = 0; i < std::min(cores.size(), rates.size()); ++i) {
    if (!std::isfinite(cores[i]) || !std::isfinite(rates[i])) continue;
    all += cores[i];
    if (rates[i] > 0 && rates[i] >= kTrafficShareOfMean * middle) moving += cores[i];
  }
  return all > 0 ? moving / all : kUnknown;
}

double small_result_share(const Values& writes, double income) {
  if (!std::isfinite(income)) return kUnknown;
  Values marks;
  for (const double w : writes)
    marks.push_back(std::isfinite(w) ? double(w > 0 && w < kSmallResult * income) : kUnknown);
  return mean(marks);
}

void add_network(JobFacts& facts, const JobSeries& job) {
  facts.receive_rate = mean(job.network_receive_bytes_per_second);
  facts.transmit_rate = mean(job.network_transmit_bytes_per_second);
  const bool fetches = facts.transmit_rate < kLeastAnswer * facts.receive_rate;
  const double sending = work_share(job.cpu_cores, job.network_transmit_bytes_per_second);
  const double receiving = work_share(job.cpu_cores, job.network_receive_bytes_per_second);
  facts.answering_share = fetches ? 0 : sending;
  facts.fetching_share = fetches ? receiving : 0 * sending;
}

void add_activity(JobFacts& facts, const JobSeries& job, size_t samples) {
  const auto all = activities(job, samples);
  facts.idle_share = idle_share(all);
  facts.waits_share = waits_share(job, all);
  const Values bursts = burst_lengths(all, job.step_seconds);
  facts.shortest_burst = quantile(bursts, 0.1);
  facts.longest_burst = quantile(bursts, 0.9);
}

/// As a power of ten; what is less than the floor is the floor.
double magnitude(double value, double floor) {
  return std::isfinite(value) ? std::log10(std::max(value, floor)) : kUnknown;
}

}  // namespace

JobFacts facts_of(const JobSeries& given) {
  JobSeries job = given;
  make_coarse(job);
  JobFacts facts;
  facts.samples = length_of(job);
  leave_out_start(job, facts.samples);
  const size_t samples = length_of(job);
  add_activity(facts, job, samples);
  facts.cpu_swing = swing(job.cpu_cores);
  facts.gpu_share = mean(job.gpu_utilization_ratio);
  facts.gpu_time_share = share_above(job.gpu_utilization_ratio, kIdleGpu);
  facts.gpu_memory = mean(job.gpu_memory_bytes);
  facts.memory = mean(job.memory_bytes);
  facts.read_rate = mean(job.disk_read_bytes_per_second);
  facts.write_rate = mean(job.disk_write_bytes_per_second);
  facts.steady_read_rate = quantile(job.disk_read_bytes_per_second, 0.5);
  facts.steady_write_rate = quantile(job.disk_write_bytes_per_second, 0.5);
  add_network(facts, job);
  facts.small_result_share = small_result_share(job.disk_write_bytes_per_second,
                                                facts.read_rate + known_or(facts.receive_rate, 0));
  return facts;
}

JobFeatures features_of(const JobFacts& facts) {
  return {facts.idle_share,
          facts.waits_share,
          magnitude(facts.cpu_swing, kLeastSwing),
          std::sqrt(facts.gpu_share),
          magnitude(facts.steady_read_rate / facts.memory, kLeastDiskUse),
          magnitude(facts.steady_write_rate / facts.memory, kLeastDiskUse),
          facts.small_result_share,
          facts.answering_share,
          facts.fetching_share};
}

}  // namespace assay::analysis
