// SPDX-License-Identifier: Apache-2.0
#include "families/kernel_text.h"
#include "families/node_rows.h"
#include "families/node_tables.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/base/text.h>

namespace assay::agent {
namespace {

using promapi::FamilyKind;
using promapi::FamilyWriter;
using promapi::LabelText;

void write_one(FamilyWriter& out, std::string_view name, FamilyKind kind, std::string_view help,
               double value) {
  if (std::isnan(value)) return;
  out.family(name, kind, help);
  out.sample(LabelText(), value);
}

constexpr std::array<std::string_view, 8> kModes = {"user",   "nice", "system",  "idle",
                                                    "iowait", "irq",  "softirq", "steal"};
constexpr size_t kIdle = 3;
constexpr size_t kGuest = 8;
constexpr size_t kGuestNice = 9;
constexpr double kTicksPerSecond = 100;

struct StatLine {
  std::string_view key;
  std::string_view family;
  FamilyKind kind;
  std::string_view help;
};
constexpr std::array kStatLines = {
    StatLine{"intr", "node_intr_total", FamilyKind::counter, "Interrupts served."},
    StatLine{"ctxt", "node_context_switches_total", FamilyKind::counter, "Switches of context."},
    StatLine{"btime", "node_boot_time_seconds", FamilyKind::gauge,
             "When the machine started, in seconds since 1970."},
    StatLine{"processes", "node_forks_total", FamilyKind::counter,
             "Processes and threads that were made."},
    StatLine{"procs_running", "node_procs_running", FamilyKind::gauge,
             "Threads that run or could run."},
    StatLine{"procs_blocked", "node_procs_blocked", FamilyKind::gauge,
             "Threads that wait for a disk."},
};

class StatTable final : public NodeTable {
 public:
  void write(std::string_view text, FamilyWriter& out) override {
    cpus_.clear();
    for (std::string_view line; next_line(text, line);) {
      Words words(line);
      const std::string_view key = words.next();
      if (key.substr(0, 3) == "cpu") {
        take_cpu(key.substr(3), words);
      } else {
        write_line(key, words, out);
      }
    }
    write_cpus(out);
  }

 private:
  using Cpus = NodeRows<10>;

  /// The kernel's idle and waiting time may step back a little, and a counter must not; it steps
  /// far back when a CPU was away, and then all of its times are new.
  void take_cpu(std::string_view number, Words& words) {
    constexpr double kAway = 3 * kTicksPerSecond;
    if (!parse_uint(number)) return;  // the sum of all
    Cpus::Row& row = cpus_.add(number);
    std::array<double, 10> ticks{};
    for (double& field : ticks) field = words.next_number();
    const bool was_away = ticks[kIdle] + kAway < row.values[kIdle];
    for (size_t i = 0; i < ticks.size(); ++i) {
      const bool back = ticks[i] < row.values[i];
      if (!back || was_away) row.values[i] = ticks[i];
    }
  }

  static void write_line(std::string_view key, Words& words, FamilyWriter& out) {
    const auto* const line =
        std::find_if(kStatLines.begin(), kStatLines.end(),
                     [&](const StatLine& candidate) { return candidate.key == key; });
    if (line != kStatLines.end())
      write_one(out, line->family, line->kind, line->help, words.next_number());
  }

  void write_cpus(FamilyWriter& out) const {
    const auto sample = [&](const Cpus::Row& row, size_t field, std::string_view mode) {
      const double ticks = row.values[field];
      if (!std::isnan(ticks)) out.sample(row.labels, {"mode", mode}, ticks / kTicksPerSecond);
    };
    out.family("node_cpu_seconds_total", FamilyKind::counter, "Time of each CPU by what it did.");
    for (const auto& row : cpus_.rows()) {
      for (size_t i = 0; i < kModes.size(); ++i) sample(row, i, kModes[i]);
    }
    out.family("node_cpu_guest_seconds_total", FamilyKind::counter,
               "Time of each CPU that virtual machines used; user and nice have it as well.");
    for (const auto& row : cpus_.rows()) {
      sample(row, kGuest, "user");
      sample(row, kGuestNice, "nice");
    }
  }

  Cpus cpus_{"cpu"};
};

class LoadTable final : public NodeTable {
 public:
  void write(std::string_view text, FamilyWriter& out) override {
    struct Load {
      std::string_view family;
      std::string_view help;
    };
    constexpr std::array<Load, 3> kLoads = {
        {{"node_load1", "Threads that ran or waited for a disk, over about a minute."},
         {"node_load5", "The same over about five minutes."},
         {"node_load15", "The same over about fifteen minutes."}}};
    Words words(text);
    for (const auto& load : kLoads) {
      const auto value = parse_double(words.next());
      if (value) write_one(out, load.family, FamilyKind::gauge, load.help, *value);
    }
  }
};

/// Families named by the kernel's words, which are the same at every scrape.
class KeyedFamilies {
 public:
  struct Family {
    std::string key;
    bool bytes = false;
    std::string name;
    std::string help;
  };

  KeyedFamilies(std::string_view prefix, std::string_view file) : prefix_(prefix), file_(file) {}

  void clear() { used_ = 0; }
  const Family& add(std::string_view key, bool bytes) {
    if (used_ == families_.size()) families_.emplace_back();
    Family& family = families_[used_++];
    if (family.key != key || family.bytes != bytes || family.name.empty()) {
      family = {std::string(key), bytes, name_of(key, bytes),
                fmt::format("{} of {}.", promapi::valid_utf8(key), file_)};
    }
    return family;
  }

 private:
  /// "Active(anon)" is Active_anon.
  std::string name_of(std::string_view key, bool bytes) const {
    if (!key.empty() && key.back() == ')') key.remove_suffix(1);
    return promapi::sanitized_name(fmt::format("{}{}{}", prefix_, key, bytes ? "_bytes" : ""));
  }

  std::string_view prefix_;
  std::string_view file_;
  std::vector<Family> families_;
  size_t used_ = 0;
};

class MemoryTable final : public NodeTable {
 public:
  void write(std::string_view text, FamilyWriter& out) override {
    constexpr double kKilobyte = 1024;
    families_.clear();
    for (std::string_view line; next_line(text, line);) {
      const std::string_view key = next_field(line, ':');
      Words words(line);
      const double number = words.next_number();
      const bool bytes = words.next() == "kB";
      if (key.empty() || std::isnan(number)) continue;
      const auto& family = families_.add(key, bytes);
      write_one(out, family.name, FamilyKind::gauge, family.help,
                bytes ? number * kKilobyte : number);
    }
  }

 private:
  KeyedFamilies families_{"node_memory_", "/proc/meminfo"};
};

class VmstatTable final : public NodeTable {
 public:
  void write(std::string_view text, FamilyWriter& out) override {
    families_.clear();
    for (std::string_view line; next_line(text, line);) {
      Words words(line);
      const std::string_view key = words.next();
      if (!is_wanted(key)) continue;
      const auto& family = families_.add(key, false);
      write_one(out, family.name, FamilyKind::unknown, family.help, words.next_number());
    }
  }

 private:
  static bool is_wanted(std::string_view key) {
    const auto starts = [&](std::string_view word) { return key.substr(0, word.size()) == word; };
    return starts("oom_kill") || starts("pgpg") || starts("pswp") ||
           (starts("pg") && key.find("fault") != key.npos);
  }

  KeyedFamilies families_{"node_vmstat_", "/proc/vmstat"};
};

/// Microseconds behind "total=".
double total_seconds(Words words) {
  constexpr std::string_view kTotal = "total=";
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word.substr(0, kTotal.size()) != kTotal) continue;
    const auto total = parse_uint(word.substr(kTotal.size()));
    return total ? static_cast<double>(*total) / 1e6 : std::nan("");
  }
  return std::nan("");
}

class PressureTable final : public NodeTable {
 public:
  explicit PressureTable(std::string_view resource)
      : waiting_(fmt::format("node_pressure_{}_waiting_seconds_total", resource)),
        stalled_(fmt::format("node_pressure_{}_stalled_seconds_total", resource)),
        waiting_help_(fmt::format("Time in which some thread waited for {}.", resource)),
        stalled_help_(fmt::format("Time in which every thread waited for {}.", resource)),
        has_stalled_(resource != "cpu") {}

  void write(std::string_view text, FamilyWriter& out) override {
    for (std::string_view line; next_line(text, line);) {
      Words words(line);
      const std::string_view kind = words.next();
      if (kind == "some")
        write_one(out, waiting_, FamilyKind::counter, waiting_help_, total_seconds(words));
      if (kind == "full" && has_stalled_)
        write_one(out, stalled_, FamilyKind::counter, stalled_help_, total_seconds(words));
    }
  }

 private:
  std::string waiting_;
  std::string stalled_;
  std::string waiting_help_;
  std::string stalled_help_;
  bool has_stalled_;  ///< for a whole machine the kernel's value of cpu is always 0
};

class FilesTable final : public NodeTable {
 public:
  void write(std::string_view text, FamilyWriter& out) override {
    std::string_view line;
    if (!next_line(text, line)) return;
    Words words(line);
    const double allocated = words.next_number();
    words.next();  // those that are free, always 0
    write_one(out, "node_filefd_allocated", FamilyKind::gauge, "Open files.", allocated);
    write_one(out, "node_filefd_maximum", FamilyKind::gauge, "How many files may be open.",
              words.next_number());
  }
};

}  // namespace

std::unique_ptr<NodeTable> stat_table() {
  return std::make_unique<StatTable>();
}
std::unique_ptr<NodeTable> load_table() {
  return std::make_unique<LoadTable>();
}
std::unique_ptr<NodeTable> memory_table() {
  return std::make_unique<MemoryTable>();
}
std::unique_ptr<NodeTable> vmstat_table() {
  return std::make_unique<VmstatTable>();
}
std::unique_ptr<NodeTable> pressure_table(std::string_view resource) {
  return std::make_unique<PressureTable>(resource);
}
std::unique_ptr<NodeTable> files_table() {
  return std::make_unique<FilesTable>();
}

}  // namespace assay::agent
