// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>

#include <assay/base/process_id.h>
#include <assay/base/text.h>

namespace assay {
namespace {

/// The number in "pid:[4026531836]"; 0 when /proc does not tell.
uint64_t own_pid_namespace(const SysRoot& root) {
  std::error_code error;
  const std::string link =
      std::filesystem::read_symlink(root.path("/proc/self/ns/pid"), error).native();
  const size_t open = link.find('[');
  if (error || open == std::string::npos || link.back() != ']') return 0;
  return parse_uint(std::string_view(link).substr(open + 1, link.size() - open - 2)).value_or(0);
}

std::string boot_id(const SysRoot& root) {
  return root.read("/proc/sys/kernel/random/boot_id").value_or("");
}

}  // namespace

std::string ProcessId::text() const {
  return fmt::format("{}.{}.{}{}{}", pid, start_ticks, pid_namespace, boot.empty() ? "" : ".",
                     boot);
}

std::optional<ProcessId> ProcessId::parse(std::string_view text) {
  const auto pid = parse_uint(next_field(text, '.'));
  const auto start = parse_uint(next_field(text, '.'));
  const auto space = parse_uint(next_field(text, '.'));
  if (!pid || !start || !space || *pid == 0 || *pid > INT32_MAX) return std::nullopt;
  if (text.find('.') != std::string_view::npos) return std::nullopt;
  return ProcessId{static_cast<pid_t>(*pid), *start, *space, std::string(text)};
}

ProcessId ProcessId::self(const SysRoot& root) {
  const auto stat = read_stat(root, ::getpid());
  return {::getpid(), stat ? stat->start_ticks : 0, own_pid_namespace(root), boot_id(root)};
}

ProcessState state_of(const SysRoot& root, const ProcessId& process) {
  if (process.pid <= 0) return ProcessState::dead;
  const std::string boot = boot_id(root);
  if (!process.boot.empty() && !boot.empty() && process.boot != boot) return ProcessState::dead;
  if (process.pid_namespace != 0 && process.pid_namespace != own_pid_namespace(root))
    return ProcessState::unknown;
  const auto stat = read_stat(root, process.pid);
  if (!stat || stat->state == 'Z' || stat->state == 'X') return ProcessState::dead;
  const bool later = process.start_ticks != 0 && stat->start_ticks != process.start_ticks;
  return later ? ProcessState::dead : ProcessState::alive;
}

std::string machine_name(const SysRoot& root, const ProcessId& self) {
  const std::string id = root.read("/etc/machine-id").value_or("");
  return id.empty() ? "boot " + self.boot : id;
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

}  // namespace assay
