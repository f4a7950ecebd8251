// SPDX-License-Identifier: Apache-2.0
#include "calibrate/slices.h"

#include "row.h"

#include <algorithm>
#include <barrier>
#include <ctime>
#include <pthread.h>
#include <sched.h>
#include <thread>

namespace assay::collect {
namespace {

double seconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

/// Pieces of work until the slice is full.
double slice_rate(const Work& work, const Timing& timing) {
  const clockid_t clock = timing.wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
  const double begin = seconds_of(clock);
  double done = 0;
  double passed = 0;
  do {
    done += work();
    passed = seconds_of(clock) - begin;
  } while (passed < timing.slice);
  return done / passed;
}

template <class Pick>
Measured by_thirds(const std::vector<double>& rates, const Pick& pick) {
  if (rates.empty()) return {};
  constexpr size_t kParts = 3;
  std::vector<double> parts;
  for (size_t part = 0; part < kParts; ++part) {
    const auto from = rates.begin() + static_cast<ptrdiff_t>(rates.size() * part / kParts);
    const auto to = rates.begin() + static_cast<ptrdiff_t>(rates.size() * (part + 1) / kParts);
    if (from != to) parts.push_back(pick(std::vector<double>(from, to)));
  }
  const auto [least, most] = std::minmax_element(parts.begin(), parts.end());
  return {pick(rates), (*most - *least) / *most};
}

}  // namespace

void stay_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

std::vector<double> slice_rates(const Work& work, const Timing& timing) {
  const double end = seconds_of(CLOCK_MONOTONIC) + timing.seconds;
  work();
  std::vector<double> rates;
  do {
    rates.push_back(slice_rate(work, timing));
  } while (seconds_of(CLOCK_MONOTONIC) < end);
  return rates;
}

std::vector<std::vector<double>> slice_rates_on(const std::vector<int>& cpus,
                                                const std::function<Work()>& make,
                                                const Timing& timing) {
  std::vector<std::vector<double>> rates(cpus.size());
  std::barrier ready(static_cast<ptrdiff_t>(cpus.size()));
  std::vector<std::jthread> threads;
  threads.reserve(cpus.size());
  for (size_t i = 0; i < cpus.size(); ++i) {
    threads.emplace_back([&, i] {
      stay_on(cpus[i]);
      const Work work = make();
      ready.arrive_and_wait();
      rates[i] = slice_rates(work, timing);
    });
  }
  threads.clear();
  return rates;
}

Measured best(const std::vector<double>& rates) {
  return by_thirds(rates, [](const std::vector<double>& part) {
    return *std::max_element(part.begin(), part.end());
  });
}

Measured typical(const std::vector<double>& rates) {
  return by_thirds(rates, [](std::vector<double> part) {
    std::sort(part.begin(), part.end());
    return quantile(part, 0.5);
  });
}

Measured sum_of(const std::vector<std::vector<double>>& rates,
                Measured (*one)(const std::vector<double>&)) {
  Measured sum;
  for (const auto& thread : rates) {
    const Measured part = one(thread);
    sum.value += part.value;
    sum.spread = std::max(sum.spread, part.spread);
  }
  return sum;
}

}  // namespace assay::collect
