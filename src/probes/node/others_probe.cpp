// SPDX-License-Identifier: Apache-2.0
#include "clock_ticks.h"
#include "folder_entries.h"
#include "proc/process_files.h"
#include "text/process.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <map>

#include <assay/probes/probe.h>

namespace assay::probes {
namespace {

/// Less than this is no load that anybody would look for.
constexpr double kLeastCores = 0.01;
/// CPU time below this waits for the next reading, so that the files of idle processes are never
/// opened.
constexpr double kLeastSeconds = 0.05;
/// A machine that starts programs under ever new names must not fill our memory.
constexpr size_t kMostNames = 1000;
/// Each reading asks for every process of the machine, which takes most of a millisecond where
/// there are some hundreds: in a long run it is made less often.
constexpr Nanoseconds kLongestGap = std::chrono::seconds(5);
constexpr int kGapsInRun = 4;
constexpr int kDeepestTree = 64;
constexpr pid_t kKernelThreads = 2;
/// Longer than the kernel's names can be, so that no program has it.
constexpr std::string_view kEngine = "container engine";

enum class Whose : uint8_t { unknown, ours, others };

struct Seen {
  pid_t pid = 0;
  std::optional<clockid_t> clock;
  double counted = 0;  ///< seconds of CPU time
  Whose whose = Whose::unknown;
};

bool is_engine(std::string_view name) {
  constexpr std::array<std::string_view, 5> kParts = {"dockerd", "containerd", "containerd-shim",
                                                      "conmon", "podman"};
  return std::find(kParts.begin(), kParts.end(), name) != kParts.end();
}

/// "kworker/3:1-events" and its like are one to a reader: "kworker"; so are an engine's parts.
std::string_view name_of(const ProcessStat& stat) {
  if (is_engine(stat.name)) return kEngine;
  return stat.parent == kKernelThreads ? stat.name.substr(0, stat.name.find('/')) : stat.name;
}

bool same_or_below(const std::string& folder, const std::string& top) {
  return !top.empty() && folder.starts_with(top) &&
         (folder.size() == top.size() || folder[top.size()] == '/');
}

bool in_group_of(const CgroupPaths& paths, const CgroupPaths& app) {
  return same_or_below(paths.v2, app.v2) || same_or_below(paths.cpu, app.cpu) ||
         same_or_below(paths.cpuacct, app.cpuacct) || same_or_below(paths.memory, app.memory) ||
         same_or_below(paths.blkio, app.blkio) || same_or_below(paths.pids, app.pids);
}

class OthersProbe final : public Probe {
 public:
  OthersProbe(const SysRoot& root, std::vector<AppTarget> ours, std::vector<OtherProcess>& busiest,
              size_t most)
      : root_(root), files_(root), ours_(std::move(ours)), busiest_(busiest), most_(most) {}

  std::string_view name() const override { return "other processes"; }
  Pace pace() const override { return Pace::slow; }
  Result<void> open(SampleSink& sink) override;
  Result<void> sample(const Clock& clock, SampleSink& sink) override;

 private:
  void list();
  Seen joined(pid_t pid) const;
  void count(Seen& seen);
  std::optional<double> cpu_seconds(const Seen& seen);
  std::optional<ProcessStat> stat_of(pid_t pid);
  bool is_ours(pid_t pid);
  bool has_our_root(pid_t pid) const;
  void add(std::string_view name, double seconds);
  void publish(double elapsed);

  SysRoot root_;
  ProcessFiles files_;
  std::vector<AppTarget> ours_;
  std::vector<OtherProcess>& busiest_;
  size_t most_;
  Fd folder_;
  std::optional<Timestamp> began_;
  Timestamp last_;
  std::vector<pid_t> found_;
  std::vector<Seen> seen_;  ///< sorted by pid
  std::vector<Seen> next_;
  std::map<std::string, double, std::less<>> seconds_;
  std::array<char, 4096> buffer_{};
};

Result<void> OthersProbe::open(SampleSink&) {
  ASSAY_TRY(folder_, root_.open("/proc"));
  return {};
}

Result<void> OthersProbe::sample(const Clock& clock, SampleSink&) {
  const Timestamp now = clock.now();
  if (began_ && now - last_ < std::min(kLongestGap, (now - *began_) / kGapsInRun)) return {};
  last_ = now;
  list();
  for (auto& seen : seen_) count(seen);
  if (began_) publish(seconds(now - *began_));
  if (!began_) began_ = now;
  return {};
}

/// Brings `seen_` in line with the processes that there are.
void OthersProbe::list() {
  found_.clear();
  for_each_number(folder_.get(), [this](pid_t pid) { found_.push_back(pid); });
  std::sort(found_.begin(), found_.end());
  next_.clear();
  auto known = seen_.begin();
  for (const pid_t pid : found_) {
    while (known != seen_.end() && known->pid < pid) ++known;
    const bool is_known = known != seen_.end() && known->pid == pid;
    next_.push_back(is_known ? *known : joined(pid));
  }
  seen_.swap(next_);
}

Seen OthersProbe::joined(pid_t pid) const {
  Seen seen;
  seen.pid = pid;
  clockid_t clock = 0;
  if (root_.is_live() && ::clock_getcpuclockid(pid, &clock) == 0) seen.clock = clock;
  return seen;
}

void OthersProbe::count(Seen& seen) {
  const auto used = cpu_seconds(seen);
  if (!used) return;
  if (!began_) seen.counted = *used;
  // Another process has got the number of one that ended.
  if (*used < seen.counted) seen = joined(seen.pid);
  const double grown = *used - seen.counted;
  if (grown < kLeastSeconds) return;
  seen.counted = *used;
  if (seen.whose == Whose::unknown) seen.whose = is_ours(seen.pid) ? Whose::ours : Whose::others;
  if (seen.whose == Whose::ours) return;
  if (const auto stat = stat_of(seen.pid)) add(name_of(*stat), grown);
}

/// The kernel's clock of a process costs a tenth of reading its file.
std::optional<double> OthersProbe::cpu_seconds(const Seen& seen) {
  timespec time{};
  if (seen.clock && ::clock_gettime(*seen.clock, &time) == 0) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
  if (root_.is_live()) return std::nullopt;
  const auto stat = stat_of(seen.pid);
  if (!stat) return std::nullopt;
  return ticks_to_seconds(stat->user_ticks + stat->system_ticks);
}

std::optional<ProcessStat> OthersProbe::stat_of(pid_t pid) {
  const auto text = files_.read(Fd(), pid, "stat", buffer_);
  return text ? parse_process_stat(*text) : std::nullopt;
}

bool OthersProbe::is_ours(pid_t pid) {
  const CgroupPaths groups = cgroups_of(root_, pid);
  const auto shares_group = [&](const AppTarget& t) { return in_group_of(groups, t.cgroup); };
  if (std::any_of(ours_.begin(), ours_.end(), shares_group)) return true;
  for (int depth = 0; depth < kDeepestTree && pid != 0; ++depth) {
    if (has_our_root(pid)) return true;
    const auto stat = stat_of(pid);
    pid = stat ? static_cast<pid_t>(stat->parent) : 0;
  }
  return false;
}

bool OthersProbe::has_our_root(pid_t pid) const {
  return std::any_of(ours_.begin(), ours_.end(), [&](const AppTarget& t) { return t.root == pid; });
}

void OthersProbe::add(std::string_view name, double seconds) {
  const auto known = seconds_.find(name);
  if (known != seconds_.end()) {
    known->second += seconds;
  } else if (seconds_.size() < kMostNames) {
    seconds_.emplace(name, seconds);
  }
}

void OthersProbe::publish(double elapsed) {
  busiest_.clear();
  for (const auto& [name, used] : seconds_) {
    if (elapsed > 0 && used >= kLeastCores * elapsed) busiest_.push_back({name, used / elapsed});
  }
  std::stable_sort(
      busiest_.begin(), busiest_.end(),
      [](const OtherProcess& a, const OtherProcess& b) { return a.cpu_cores > b.cpu_cores; });
  // The engine serves containers that are profiled: it is told however little it used.
  const auto rest = busiest_.begin() + static_cast<ptrdiff_t>(std::min(most_, busiest_.size()));
  busiest_.erase(std::remove_if(rest, busiest_.end(),
                                [](const OtherProcess& other) { return other.name != kEngine; }),
                 busiest_.end());
}

}  // namespace

std::unique_ptr<Probe> others_probe(const SysRoot& root, std::vector<AppTarget> ours,
                                    std::vector<OtherProcess>& busiest, size_t most) {
  return std::make_unique<OthersProbe>(root, std::move(ours), busiest, most);
}

}  // namespace assay::probes
