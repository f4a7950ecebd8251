// SPDX-License-Identifier: Apache-2.0
#include "proc/tree_probe.h"

#include "proc/never_down.h"

#include <algorithm>
#include <array>

namespace assay::probes {
namespace {

using enum MetricId;

constexpr double kCpuTolerance = 0.05;  // reaped children are counted in ticks of 10 ms

/// What a beat adds up over the processes.
struct Sums {
  Process::Usage usage;
  ProcessIo io;
  double rss = 0;
  double swap = 0;
  double largest_peak = 0;  ///< of one process
  double threads = 0;
  double processes = 0;
  bool has_memory = false;  ///< false when only zombies are left
};

void add(const Process::Usage& usage, Process::Usage& sum) {
  sum.cpu_seconds += usage.cpu_seconds;
  sum.user_seconds += usage.user_seconds;
  sum.system_seconds += usage.system_seconds;
  sum.faults += usage.faults;
  sum.major_faults += usage.major_faults;
}

void add_memory(const ProcessStatus& status, Sums& sums) {
  if (!status.rss_bytes) return;
  sums.has_memory = true;
  sums.rss += static_cast<double>(*status.rss_bytes);
  sums.swap += static_cast<double>(status.swap_bytes.value_or(0));
  sums.largest_peak =
      std::max(sums.largest_peak, static_cast<double>(status.peak_rss_bytes.value_or(0)));
}

Sums add_up(const std::vector<Process>& processes) {
  Sums sums;
  for (const auto& process : processes) {
    add(process.children, sums.usage);
    if (process.io) {
      sums.io.read_bytes += process.io->read_bytes - process.io_before.read_bytes;
      sums.io.write_bytes += process.io->write_bytes - process.io_before.write_bytes;
    }
    if (process.keeper) continue;
    add(process.own, sums.usage);
    if (!process.alive()) continue;
    add_memory(process.status, sums);
    sums.threads += static_cast<double>(process.status.threads);
    sums.processes += 1;
  }
  return sums;
}

class TreeProbe final : public Probe {
 public:
  TreeProbe(std::shared_ptr<ProcessTable> table, const CgroupCover& cover,
            std::vector<NotMeasured> gaps)
      : table_(std::move(table)), cover_(cover), not_measured_(std::move(gaps)) {}

  std::string_view name() const override { return "app processes"; }
  Pace pace() const override { return Pace::beat; }
  std::vector<NotMeasured> not_measured() const override { return not_measured_; }
  Result<void> open(SampleSink& sink) override;
  Result<void> sample(const Clock& clock, SampleSink& sink) override;

 private:
  struct Counter {
    SeriesId series{};
    NeverDown value;
  };
  void declare_memory(SampleSink& sink);
  void declare_counters(SampleSink& sink);
  void declare_io(SampleSink& sink);
  void push_memory(const Sums& sums, Timestamp now, SampleSink& sink);
  void push_counters(const Sums& sums, Timestamp now, SampleSink& sink);

  std::shared_ptr<ProcessTable> table_;
  CgroupCover cover_;
  std::vector<NotMeasured> not_measured_;
  SeriesId rss_{}, threads_{}, processes_{}, working_set_{}, swap_{}, peak_series_{};
  std::optional<std::array<Counter, 3>> cpu_;
  std::optional<std::array<Counter, 2>> faults_;
  std::optional<std::array<Counter, 2>> io_;
  double peak_ = 0;
  double seen_peak_ = 0;
  double last_rss_ = 0;
  Timestamp last_time_;
};

Result<void> TreeProbe::open(SampleSink& sink) {
  table_->refresh();
  if (table_->processes().empty()) return refused("the app's processes cannot be found in /proc");
  declare_memory(sink);
  threads_ = sink.declare(describe(threads, Scope::app, "/proc/PID/status Threads of the tree"));
  processes_ =
      sink.declare(describe(processes, Scope::app, "processes of the tree, zombies left out"));
  declare_counters(sink);
  if (!cover_.disk_bytes) declare_io(sink);
  return {};
}

void TreeProbe::declare_memory(SampleSink& sink) {
  const std::string from = "/proc/PID/status VmRSS of the tree";
  rss_ = sink.declare(describe(memory_rss_bytes, Scope::app, from));
  if (cover_.memory) return;
  working_set_ = sink.declare(describe(memory_bytes, Scope::app, from));
  swap_ =
      sink.declare(describe(memory_swap_bytes, Scope::app, "/proc/PID/status VmSwap of the tree"));
  peak_series_ = sink.declare(
      describe(memory_peak_bytes, Scope::app,
               "larger of one process's /proc/PID/status VmHWM and the sampled VmRSS of the tree"));
}

void TreeProbe::declare_counters(SampleSink& sink) {
  const std::string from = "/proc/PID/stat of the tree, ";
  const auto counter = [&](MetricId id, const char* what, double tolerance) {
    return Counter{sink.declare(describe(id, Scope::app, from + what)), NeverDown(tolerance)};
  };
  if (!cover_.cpu) {
    cpu_ = {counter(cpu_usage_seconds_total, "utime and stime, with waited-for children",
                    kCpuTolerance),
            counter(cpu_user_seconds_total, "utime, with waited-for children", kCpuTolerance),
            counter(cpu_system_seconds_total, "stime, with waited-for children", kCpuTolerance)};
  }
  if (!cover_.memory) {
    faults_ = {counter(page_faults_total, "minflt and majflt, with waited-for children", 0),
               counter(major_page_faults_total, "majflt, with waited-for children", 0)};
  }
}

void TreeProbe::declare_io(SampleSink& sink) {
  const auto& all = table_->processes();
  if (std::none_of(all.begin(), all.end(), [](const Process& p) { return p.io.has_value(); })) {
    not_measured_.push_back(
        {"app disk bytes",
         "/proc/PID/io of the app may not be read; run as the app's user or as root"});
    return;
  }
  io_ = {Counter{sink.declare(describe(disk_read_bytes_total, Scope::app,
                                       "/proc/PID/io read_bytes of the tree")),
                 NeverDown()},
         Counter{sink.declare(describe(disk_write_bytes_total, Scope::app,
                                       "/proc/PID/io write_bytes of the tree")),
                 NeverDown()}};
}

Result<void> TreeProbe::sample(const Clock& clock, SampleSink& sink) {
  const Timestamp now = clock.now();
  table_->refresh();
  const Sums sums = add_up(table_->processes());
  push_memory(sums, now, sink);
  sink.sample(threads_, now, sums.threads);
  sink.sample(processes_, now, sums.processes);
  push_counters(sums, now, sink);
  return {};
}

void TreeProbe::push_memory(const Sums& sums, Timestamp now, SampleSink& sink) {
  if (!sums.has_memory) return;
  // A peak between two beats that only the kernel saw: some time between them the processes had at
  // least this much.
  const bool hidden = seen_peak_ > 0 && sums.largest_peak > seen_peak_ &&
                      sums.largest_peak > std::max(last_rss_, sums.rss);
  if (hidden) sink.sample(rss_, last_time_ + (now - last_time_) / 2, sums.largest_peak);
  seen_peak_ = std::max({seen_peak_, sums.largest_peak, sums.rss});
  last_rss_ = sums.rss;
  last_time_ = now;
  sink.sample(rss_, now, sums.rss);
  if (cover_.memory) return;
  sink.sample(working_set_, now, sums.rss);
  sink.sample(swap_, now, sums.swap);
  peak_ = std::max({peak_, sums.rss, sums.largest_peak});
  sink.sample(peak_series_, now, peak_);
}

void TreeProbe::push_counters(const Sums& sums, Timestamp now, SampleSink& sink) {
  const auto push = [&](Counter& counter, double sum) {
    sink.sample(counter.series, now, counter.value.next(sum));
  };
  if (cpu_) {
    push((*cpu_)[0], sums.usage.cpu_seconds);
    push((*cpu_)[1], sums.usage.user_seconds);
    push((*cpu_)[2], sums.usage.system_seconds);
  }
  if (faults_) {
    push((*faults_)[0], sums.usage.faults);
    push((*faults_)[1], sums.usage.major_faults);
  }
  if (io_) {
    push((*io_)[0], static_cast<double>(sums.io.read_bytes));
    push((*io_)[1], static_cast<double>(sums.io.write_bytes));
  }
}

}  // namespace

std::unique_ptr<Probe> make_tree_probe(std::shared_ptr<ProcessTable> table,
                                       const CgroupCover& cover, std::vector<NotMeasured> gaps) {
  return std::make_unique<TreeProbe>(std::move(table), cover, std::move(gaps));
}

}  // namespace assay::probes
