// SPDX-License-Identifier: Apache-2.0
#include "assay.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace assay::client::detail {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

/// A machine whose counter and clock move by hand, and which counts how often each is read.
struct Fake {
  static int64_t monotonic() {
    ++clock_reads;
    return time;
  }
  static uint64_t ticks() {
    ++tick_reads;
    return count;
  }
  static bool trusted() { return good; }

  static void reset() {
    time = 77 * kMillisecond;
    count = 5'000'000'000;
    good = true;
    clock_reads = 0;
    tick_reads = 0;
  }
  static void pass(int64_t ns, double ticks_each) {
    time += ns;
    count += static_cast<uint64_t>(static_cast<double>(ns) * ticks_each);
  }

  inline static int64_t time = 0;
  inline static uint64_t count = 0;
  inline static bool good = true;
  inline static int clock_reads = 0;
  inline static int tick_reads = 0;
};

class TickClockTest : public testing::Test {
 protected:
  TickClockTest() { Fake::reset(); }
  void measure(double ticks_each) {
    clock_.now();
    Fake::pass(10 * kMillisecond, ticks_each);
    clock_.now();
  }
  bool uses_the_clock() {
    const int before = Fake::clock_reads;
    clock_.now();
    return Fake::clock_reads > before;
  }
  TickClock<Fake> clock_;
};

TEST_F(TickClockTest, reads_the_clock_until_the_rate_is_known) {
  EXPECT_EQ(clock_.now(), Fake::time);
  Fake::pass(9 * kMillisecond, 3);
  EXPECT_EQ(clock_.now(), Fake::time);
  EXPECT_TRUE(uses_the_clock());
  Fake::pass(kMillisecond, 3);
  EXPECT_EQ(clock_.now(), Fake::time);
  EXPECT_FALSE(uses_the_clock());
  Fake::pass(777 * kMillisecond, 3);
  EXPECT_NEAR(static_cast<double>(clock_.now()), static_cast<double>(Fake::time), 1);
}

TEST_F(TickClockTest, knows_slow_counters_too) {
  measure(0.024);
  EXPECT_FALSE(uses_the_clock());
  Fake::pass(900 * kMillisecond, 0.024);
  EXPECT_NEAR(static_cast<double>(clock_.now()), static_cast<double>(Fake::time), 50);
}

TEST_F(TickClockTest, never_reads_a_counter_that_is_not_trusted) {
  Fake::good = false;
  measure(3);
  Fake::pass(5000 * kMillisecond, 3);
  EXPECT_EQ(clock_.now(), Fake::time);
  EXPECT_TRUE(uses_the_clock());
  EXPECT_EQ(Fake::tick_reads, 0);
}

TEST_F(TickClockTest, learns_the_rate_better_over_time) {
  measure(3.0015);
  for (int i = 0; i < 4; ++i) {
    Fake::pass(1000 * kMillisecond, 3);
    clock_.tend();
  }
  const int64_t before = clock_.now();
  Fake::pass(500 * kMillisecond, 3);
  EXPECT_FALSE(uses_the_clock());
  EXPECT_NEAR(static_cast<double>(clock_.now() - before), 500.0 * kMillisecond, 2000);
}

TEST_F(TickClockTest, returns_to_the_clock_when_the_two_part) {
  measure(3);
  Fake::pass(1000 * kMillisecond, 3.002);
  clock_.tend();
  EXPECT_FALSE(uses_the_clock()) << "the clock may be steered that much";
  Fake::count += 3'000'000'000;  // the clock rests while the machine sleeps
  Fake::pass(1000 * kMillisecond, 3);
  clock_.tend();
  EXPECT_TRUE(uses_the_clock());
  EXPECT_EQ(clock_.now(), Fake::time);
  Fake::pass(5000 * kMillisecond, 3);
  EXPECT_EQ(clock_.now(), Fake::time) << "for good";
}

TEST_F(TickClockTest, returns_to_the_clock_when_the_counter_starts_again) {
  measure(3);
  Fake::pass(2000 * kMillisecond, 3);
  Fake::count = 100;
  EXPECT_EQ(clock_.now(), Fake::time);
  EXPECT_TRUE(uses_the_clock());
}

TEST(Machine, believes_counters_by_which_the_kernel_keeps_time) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("assay-clocksource-" + std::to_string(::getpid()));
  const auto with = [&](const char* text) {
    std::ofstream(file) << text;
    return Machine::keeps_time(file.c_str());
  };
  EXPECT_TRUE(with("tsc\n"));
  EXPECT_TRUE(with("arch_sys_counter\n"));
  EXPECT_FALSE(with("hpet\n"));
  EXPECT_FALSE(with("kvm-clock\n"));
  EXPECT_FALSE(with(""));
  std::filesystem::remove(file);
  EXPECT_FALSE(Machine::keeps_time(file.c_str()));
}

struct Reading {
  int64_t ours = 0;
  int64_t kernels = 0;
};

/// The least disturbed of many.
Reading read_both() {
  Reading best;
  int64_t least = INT64_MAX;
  for (int i = 0; i < 100; ++i) {
    const int64_t before = Machine::monotonic();
    const int64_t ours = now_ns();
    const int64_t took = Machine::monotonic() - before;
    if (took >= least) continue;
    least = took;
    best = {ours, before + took / 2};
  }
  return best;
}

TEST(Machine, agrees_with_the_kernels_clock) {
  constexpr int64_t kFiftyMilliseconds = 50 * kMillisecond;
  const auto wait = [](int64_t until) {
    while (now_ns() < until) {
    }
  };
  wait(now_ns() + 15 * kMillisecond);  // the rate is measured meanwhile
  const Reading first = read_both();
  wait(first.ours + kFiftyMilliseconds);
  const Reading last = read_both();
  const int64_t kernels = last.kernels - first.kernels;
  EXPECT_LE(std::abs(last.ours - first.ours - kernels), kernels / 1000);
}

}  // namespace
}  // namespace assay::client::detail
