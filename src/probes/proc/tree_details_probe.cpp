// SPDX-License-Identifier: Apache-2.0
#include "folder_entries.h"
#include "proc/tree_probe.h"

#include <algorithm>
#include <array>
#include <sys/stat.h>

namespace assay::probes {
namespace {

/// Adds up a count of each thread, keeping the last known one of those that ended.
class ThreadTotals {
 public:
  void begin() { ++round_; }

  void add(pid_t thread, uint64_t count) {
    const auto at = std::lower_bound(threads_.begin(), threads_.end(), thread,
                                     [](const Thread& t, pid_t id) { return t.id < id; });
    if (at == threads_.end() || at->id != thread) {
      threads_.insert(at, {thread, count, round_});
      return;
    }
    if (count < at->count) ended_ += at->count;  // the id was given to another thread
    at->count = count;
    at->round = round_;
  }

  uint64_t total() {
    uint64_t live = 0;
    for (const auto& thread : threads_) (thread.round == round_ ? live : ended_) += thread.count;
    threads_.erase(std::remove_if(threads_.begin(), threads_.end(),
                                  [&](const Thread& t) { return t.round != round_; }),
                   threads_.end());
    return live + ended_;
  }

 private:
  struct Thread {
    pid_t id;
    uint64_t count;
    uint64_t round;
  };
  std::vector<Thread> threads_;  ///< sorted by id
  uint64_t ended_ = 0;
  uint64_t round_ = 0;
};

class TreeDetailsProbe final : public Probe {
 public:
  TreeDetailsProbe(const SysRoot& root, std::shared_ptr<ProcessTable> table)
      : live_(root.is_live()), table_(std::move(table)) {}

  std::string_view name() const override { return "app files and switches"; }
  Pace pace() const override { return Pace::slow; }

  Result<void> open(SampleSink& sink) override {
    files_ = sink.declare(
        describe(MetricId::open_files, Scope::app, "entries of /proc/PID/fd of the tree"));
    switches_ = sink.declare(
        describe(MetricId::context_switches_total, Scope::app,
                 "/proc/PID/task/TID/status of the tree; at least, since what a thread "
                 "does in its last second is not seen"));
    waiting_ = sink.declare(describe(MetricId::cpu_waiting_seconds_total, Scope::app,
                                     "/proc/PID/task/TID/schedstat of the tree"));
    return {};
  }

  Result<void> sample(const Clock& clock, SampleSink& sink) override {
    const Timestamp now = clock.now();
    uint64_t open_files = 0;
    bool readable = false;
    switch_totals_.begin();
    waiting_totals_.begin();
    for (const auto& process : table_->processes()) {
      if (!process.alive()) continue;
      readable = count_files(process.pid, open_files) || readable;
      count_threads(process.pid);
    }
    if (readable) sink.sample(files_, now, static_cast<double>(open_files));
    sink.sample(switches_, now, static_cast<double>(switch_totals_.total()));
    if (tells_waiting_) {
      sink.sample(waiting_, now, static_cast<double>(waiting_totals_.total()) * 1e-9);
    }
    return {};
  }

 private:
  bool count_files(pid_t pid, uint64_t& open_files) const {
    const Fd folder = table_->files().open(pid, "fd");
    struct stat info {};
    if (!folder.valid() || ::fstat(folder.get(), &info) != 0) return false;
    // Linux 6.2 and later give the number of descriptors as the folder's size.
    if (live_ && info.st_size > 0) {
      open_files += static_cast<uint64_t>(info.st_size);
      return true;
    }
    return for_each_entry(folder.get(), [&](std::string_view) { ++open_files; });
  }

  void count_threads(pid_t pid) {
    const Fd folder = table_->files().open(pid, "task");
    for_each_number(folder.get(), [&](pid_t thread) {
      count_switches(pid, thread);
      count_waiting(pid, thread);
    });
  }

  void count_switches(pid_t pid, pid_t thread) {
    const Fd file = table_->files().open(pid, thread, "status");
    std::array<char, 16384> buffer;
    const auto text = pread_text(file.get(), buffer);
    const auto status = text ? parse_process_status(*text) : std::nullopt;
    if (!status || !status->voluntary_switches || !status->forced_switches) return;
    switch_totals_.add(thread, *status->voluntary_switches + *status->forced_switches);
  }

  void count_waiting(pid_t pid, pid_t thread) {
    const Fd file = table_->files().open(pid, thread, "schedstat");
    std::array<char, 128> buffer;
    const auto text = pread_text(file.get(), buffer);
    const auto waited = text ? parse_waiting_ns(*text) : std::nullopt;
    if (!waited) return;
    tells_waiting_ = true;
    waiting_totals_.add(thread, *waited);
  }

  bool live_;
  std::shared_ptr<ProcessTable> table_;
  ThreadTotals switch_totals_;
  ThreadTotals waiting_totals_;
  bool tells_waiting_ = false;
  SeriesId files_{};
  SeriesId switches_{};
  SeriesId waiting_{};
};

}  // namespace

std::unique_ptr<Probe> make_tree_details_probe(const SysRoot& root,
                                               std::shared_ptr<ProcessTable> table) {
  return std::make_unique<TreeDetailsProbe>(root, std::move(table));
}

}  // namespace assay::probes
