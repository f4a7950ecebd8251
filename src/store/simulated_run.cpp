// SPDX-License-Identifier: Apache-2.0
#include "simulated_run.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace assay::store {
namespace {

class Machine {
 public:
  explicit Machine(size_t beats) {
    auto lateness = std::lognormal_distribution<double>(11.0, 0.6);  // about 60 us
    for (size_t i = 0; i < beats; ++i) {
      now_.push_back(1'769'860'800'123'456'789 + static_cast<int64_t>(i) * 100'000'000 +
                     static_cast<int64_t>(lateness(random_)));
    }
  }

  /// A file of /proc or a control group: read a few microseconds after the one before.
  void file() {
    auto gap = std::lognormal_distribution<double>(9.2, 0.4);  // about 10 us
    for (auto& time : now_) time += static_cast<int64_t>(gap(random_));
  }

  void series(const std::function<double()>& read) {
    Column column;
    column.series = static_cast<uint32_t>(columns_.size());
    for (const auto time : now_) {
      column.times.push_back(from_unix_ns(time - time % 1000));  // as the recorder does
      column.values.push_back(read());
    }
    columns_.push_back(std::move(column));
  }

  void constant(double value) {
    series([=] { return value; });
  }
  /// Grows by `mean` per beat, more or less; counted in `1 / per_unit`.
  void counter(double mean, double spread, double per_unit) {
    auto level = static_cast<int64_t>(random_() % 1'000'000'000);
    series([=, this]() mutable {
      std::normal_distribution<double> growth(mean, spread);
      level += std::max<int64_t>(0, std::llround(growth(random_)));
      return static_cast<double>(level) / per_unit;
    });
  }
  /// A counter that moves in one of `rarity` beats only.
  void bursts(uint64_t rarity, uint64_t size, double per_unit) {
    auto level = static_cast<int64_t>(random_() % 1'000'000'000);
    series([=, this]() mutable {
      if (random_() % rarity == 0) level += static_cast<int64_t>(random_() % size);
      return static_cast<double>(level) / per_unit;
    });
  }
  /// A level in pages that now and then moves.
  void pages(double start, uint64_t rarity) {
    auto level = static_cast<int64_t>(start);
    series([=, this]() mutable {
      if (random_() % rarity == 0) level += static_cast<int64_t>(random_() % 400) - 200;
      return static_cast<double>(level) * 4096;
    });
  }
  void noise(double mean, double spread, double per_unit) {
    series([=, this] {
      std::normal_distribution<double> level(mean, spread);
      return std::nearbyint(level(random_)) / per_unit;
    });
  }
  /// What the app reports at its own pace, in full precision.
  void reported(double mean, double spread) {
    std::normal_distribution<double> level(mean, spread);
    file();
    series([=, this]() mutable { return level(random_); });
  }

  std::vector<Column> take() { return std::move(columns_); }

 private:
  std::mt19937_64 random_{7};
  std::vector<int64_t> now_;
  std::vector<Column> columns_;
};

void add_app(Machine& m) {
  m.file();
  m.counter(180'000'000, 6'000'000, 1e9);  // cpuacct.usage
  m.file();
  m.counter(16, 1, 100);  // user ticks
  m.counter(2, 1, 100);
  m.file();
  m.constant(0);  // throttled
  m.file();
  m.pages(150'000, 3);
  m.pages(140'000, 3);
  m.pages(9'000, 20);
  m.constant(0);
  m.counter(40, 15, 1);
  m.bursts(100, 3, 1);
  m.file();
  m.pages(160'000, 30);
  m.file();
  m.constant(14);
  m.constant(3);
  m.file();
  m.constant(41);
  m.file();
  m.counter(55, 12, 1);  // context switches
  m.file();
  m.bursts(30, 1'000'000, 1);
  m.bursts(15, 300'000, 1);
  m.bursts(30, 20, 1);
  m.bursts(15, 20, 1);
  m.file();
  m.bursts(4, 60'000, 1);
  m.bursts(4, 3'000, 1);
}

void add_node(Machine& m) {
  m.file();
  m.counter(19, 1, 100);
  m.counter(16, 1, 100);
  m.counter(3, 1, 100);
  m.counter(900, 200, 1);
  m.constant(2);
  m.file();
  m.pages(700'000, 1);
  m.pages(300'000, 2);
  m.constant(0);
  m.file();
  m.counter(300, 100, 1);
  m.constant(1200);
  for (int pressure = 0; pressure < 5; ++pressure) {
    m.file();
    m.bursts(pressure == 0 ? 2 : 40, 9'000, 1e6);
  }
  m.file();
  m.bursts(12, 2'000'000, 1);
  m.bursts(10, 900'000, 1);
  m.bursts(12, 40, 1);
  m.bursts(10, 40, 1);
  m.file();
  m.bursts(2, 90'000, 1);
  m.bursts(2, 9'000, 1);
  for (int core = 0; core < 4; ++core) {
    m.file();
    m.constant(1'500'000'000);
  }
  m.file();
  m.bursts(50, 30, 100);  // load
  for (int sensor = 0; sensor < 4; ++sensor) {
    m.file();
    m.noise(51'000, 300, 1000);
  }
  m.file();
  m.counter(410'000, 30'000, 1e6);  // RAPL microjoules
  m.constant(0.87);
}

}  // namespace

std::vector<Column> simulated_columns(size_t beats) {
  Machine m(beats);
  add_app(m);
  add_node(m);
  m.file();
  m.counter(200'000, 40'000, 1e9);
  m.pages(2'200, 200);
  m.reported(12.4, 0.6);
  m.reported(0.081, 0.004);
  return m.take();
}

}  // namespace assay::store
