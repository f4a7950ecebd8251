// SPDX-License-Identifier: Apache-2.0
#include "process/owner.h"

#include <cctype>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

constexpr std::string_view kGroupPrefix = "assay-";

/// The number in "pid:[4026531836]"; 0 when /proc does not tell.
uint64_t own_pid_namespace(const SysRoot& root) {
  std::error_code error;
  const std::string link =
      std::filesystem::read_symlink(root.path("/proc/self/ns/pid"), error).native();
  const size_t open = link.find('[');
  if (error || open == std::string::npos || link.back() != ']') return 0;
  return parse_uint(std::string_view(link).substr(open + 1, link.size() - open - 2)).value_or(0);
}

}  // namespace

std::string Owner::text() const {
  return fmt::format("{}.{}.{}", pid, start_ticks, pid_namespace);
}

std::optional<Owner> Owner::parse(std::string_view text) {
  const auto pid = parse_uint(next_field(text, '.'));
  const auto start = parse_uint(next_field(text, '.'));
  const auto space = parse_uint(text);
  if (!pid || !start || !space || *pid == 0 || *pid > INT32_MAX) return std::nullopt;
  return Owner{static_cast<pid_t>(*pid), *start, *space};
}

Result<Owner> Owner::self(const SysRoot& root) {
  const auto stat = read_stat(root, ::getpid());
  if (!stat) return refused("cannot read our own /proc/PID/stat: is /proc mounted?");
  return Owner{::getpid(), stat->start_ticks, own_pid_namespace(root)};
}

OwnerState state_of(const SysRoot& root, const Owner& owner) {
  if (owner.pid_namespace != own_pid_namespace(root)) return OwnerState::unknown;
  const auto stat = read_stat(root, owner.pid);
  if (!stat || stat->start_ticks != owner.start_ticks) return OwnerState::dead;
  const bool ended = stat->state == 'Z' || stat->state == 'X';
  return ended ? OwnerState::dead : OwnerState::alive;
}

std::string group_name(std::string_view session_id, int run, const Owner& owner) {
  std::string session(session_id);
  for (char& c : session) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
  }
  return fmt::format("{}{}-{}.{}", kGroupPrefix, session, run, owner.text());
}

std::optional<Owner> group_owner(std::string_view name) {
  const size_t dot = name.find('.');
  if (!name.starts_with(kGroupPrefix) || dot == std::string_view::npos) return std::nullopt;
  return Owner::parse(name.substr(dot + 1));
}

std::optional<ProcessStat> read_stat(const SysRoot& root, pid_t pid) {
  const auto text = root.read(fmt::format("/proc/{}/stat", pid));
  if (!text) return std::nullopt;
  // The command's name may hold anything, spaces and brackets too; what follows its last ) is
  // regular.
  const size_t close = text->rfind(") ");
  if (close == std::string::npos) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(close + 2);
  ProcessStat stat;
  constexpr int kState = 3;
  constexpr int kParent = 4;
  constexpr int kStart = 22;
  for (int field = kState; field <= kStart; ++field) {
    const std::string_view value = next_field(rest, ' ');
    if (value.empty()) return std::nullopt;
    if (field == kState) stat.state = value.front();
    if (field == kParent) stat.parent = static_cast<pid_t>(parse_int(value).value_or(0));
    if (field == kStart) stat.start_ticks = parse_uint(value).value_or(0);
  }
  return stat;
}

}  // namespace assay::launch
