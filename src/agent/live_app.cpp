// SPDX-License-Identifier: Apache-2.0
#include "live_app.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/base/process_id.h>
#include <assay/base/text.h>

namespace assay::agent {
namespace {

using probes::Use;

/// What is dearer to read, or changes slowly, is read only so often.
constexpr Nanoseconds kSlow = std::chrono::seconds(10);
constexpr Nanoseconds kYoung = std::chrono::seconds(15);
constexpr double kTickSeconds = 0.01;  ///< what /proc counts in, for user space
constexpr Nanoseconds kClosely = std::chrono::milliseconds(900);

std::string short_name(const GroupName& group) {
  constexpr size_t kShortId = 12;
  return group.kind == GroupKind::container ? group.id.substr(0, kShortId) : group.id;
}

}  // namespace

std::string_view to_string(Live live) {
  constexpr std::array<std::string_view, kLives> kNames = {"cores",
                                                           "memory_bytes",
                                                           "disk_read_bytes_per_second",
                                                           "disk_write_bytes_per_second",
                                                           "network_receive_bytes_per_second",
                                                           "network_transmit_bytes_per_second"};
  return kNames[static_cast<size_t>(live)];
}

LiveApp::LiveApp(const SysRoot& root, const probes::GroupTree& tree, const std::string& path,
                 GroupName group, Timestamp now)
    : root_(root), reader_(root, tree.at(path)), appeared_(now), started_(now) {
  AppIdentity identity;
  identity.path = path;
  identity.name = short_name(group);
  identity.group = std::move(group);
  identify(std::move(identity));
}

void LiveApp::identify(AppIdentity identity) {
  identity_ = std::move(identity);
  labels_ = promapi::LabelText{{"container", identity_.container},  {"id", identity_.path},
                               {"image", identity_.image},          {"name", identity_.name},
                               {"namespace", identity_.name_space}, {"pod", identity_.pod}};
}

std::optional<pid_t> LiveApp::first_process() const {
  const auto& paths = reader_.paths();
  const std::string& folder = paths.unified ? paths.v2 : paths.cpuacct;
  const auto text = root_.read(folder + "/cgroup.procs");
  if (!text) return std::nullopt;
  std::string_view rest = *text;
  const auto pid = parse_uint(next_field(rest, '\n'));
  if (!pid || *pid == 0) return std::nullopt;
  return static_cast<pid_t>(*pid);
}

void LiveApp::runs_since(pid_t pid, Timestamp now) {
  const auto stat = read_stat(root_, pid);
  const auto text = root_.read("/proc/uptime");
  if (!stat || !text) return;
  std::string_view rest = *text;
  const auto uptime = parse_double(next_field(rest, ' '));
  if (!uptime) return;
  const double age = *uptime - static_cast<double>(stat->start_ticks) * kTickSeconds;
  if (age > 0) started_ = std::min(started_, now - from_seconds(age));
}

/// Counters of what is told as a rate; the memory's place holds what is in use.
LiveApp::Totals LiveApp::totals() const {
  Totals totals{};
  totals[static_cast<size_t>(Live::cores)] = use_[Use::cpu_seconds];
  totals[static_cast<size_t>(Live::memory)] = use_[Use::memory_working_set];
  for (const auto& disk : use_.disks) {
    totals[static_cast<size_t>(Live::disk_read)] += disk.read_bytes;
    totals[static_cast<size_t>(Live::disk_write)] += disk.write_bytes;
  }
  for (const auto& interface : use_.interfaces) {
    totals[static_cast<size_t>(Live::network_receive)] += interface.received.bytes;
    totals[static_cast<size_t>(Live::network_transmit)] += interface.sent.bytes;
  }
  return totals;
}

void LiveApp::add_to_windows(Timestamp now, const Totals& before) {
  const Totals after = totals();
  const double elapsed = seconds(now - last_seen_);
  for (size_t i = 0; i < kLives; ++i) {
    if (i == static_cast<size_t>(Live::memory)) {
      windows_[i].add(now, after[i]);
    } else if (last_seen_ != Timestamp() && elapsed > 0 && after[i] >= before[i]) {
      windows_[i].add(now, (after[i] - before[i]) / elapsed);
    }
  }
}

bool LiveApp::read_slow(Timestamp now) {
  reader_.open_missing();
  const bool whole = reader_.read_slow(use_);
  limits_ = reader_.limits();
  last_slow_ = now;
  return whole;
}

bool LiveApp::sample(Timestamp now) {
  const Totals before = totals();
  if (!reader_.read(use_)) return false;
  add_to_windows(now, before);
  last_seen_ = now;
  // A runtime sets limits a moment after it has made the group.
  const bool often = closely_ || now - appeared_ < kYoung;
  if (last_slow_ == Timestamp() || now - last_slow_ >= (often ? kClosely : kSlow)) read_slow(now);
  return true;
}

void LiveApp::expect_faster_samples() {
  constexpr size_t kTimesFaster = 10;
  for (auto& window : windows_) window.grow(Window::kSamples * kTimesFaster);
}

void LiveApp::end(Timestamp now) {
  ended_ = now;
  reader_.close();
}

void LiveApp::sample_end(Timestamp now) {
  if (sample(now) && read_slow(now)) read_at_end_ = true;
}

}  // namespace assay::agent
