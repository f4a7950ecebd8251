// SPDX-License-Identifier: Apache-2.0
#include "process/exit_text.h"

#include "process/cgroup.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

#include <assay/base/text.h>

namespace assay::launch {
namespace fs = std::filesystem;

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

void set_status(Exit& exit, int how, int status) {
  if (how == CLD_EXITED) exit.code = status;
  if (how == CLD_KILLED || how == CLD_DUMPED) exit.signal = status;
  exit.core_dumped = how == CLD_DUMPED;
}

std::string exit_detail(const Exit& exit, std::optional<uint64_t> memory_limit) {
  const std::string limit =
      memory_limit ? fmt::format(" (limit {})", format_limit(*memory_limit)) : std::string();
  if (exit.oom_killed && exit.signal) {
    return fmt::format("killed by the kernel: out of memory{}", limit);
  }
  if (exit.oom_killed) {
    return fmt::format(
        "exited with code {} after the kernel killed a process of it: out of memory{}",
        exit.code.value_or(0), limit);
  }
  if (exit.signal) {
    return fmt::format("killed by {}{}", signal_name(*exit.signal),
                       exit.core_dumped ? " (core dumped)" : "");
  }
  if (exit.code) return fmt::format("exited with code {}", *exit.code);
  return "ended because its keeper process was killed";
}

namespace {

constexpr std::string_view kPath = "PATH=";

/// Whether the command's file exists at all, in its folder or on the app's PATH.
bool is_there(const StartOrder& order) {
  const fs::path command = order.argv.front();
  const fs::path workdir = order.workdir;
  std::error_code ignored;
  if (command.has_parent_path()) return fs::exists(workdir / command, ignored);
  const auto path = std::find_if(order.env.begin(), order.env.end(),
                                 [](const std::string& entry) { return entry.starts_with(kPath); });
  if (path == order.env.end()) return false;
  for (std::string_view rest = std::string_view(*path).substr(kPath.size()); !rest.empty();) {
    if (fs::exists(workdir / next_field(rest, ':') / command, ignored)) return true;
  }
  return false;
}

Failure exec_failure(const StartOrder& order, int error) {
  const std::string& command = order.argv.front();
  const bool there = is_there(order);
  if (error == ENOENT && there) {
    return fail(ErrorKind::app,
                fmt::format("{} cannot start: the interpreter it names is missing", command));
  }
  // EACCES also comes from a folder on the PATH that this user may not look into.
  if (error == ENOENT || error == ENOTDIR || (error == EACCES && !there)) {
    return fail(ErrorKind::app, "no such command: " + command);
  }
  if (error == EACCES) {
    return fail(ErrorKind::app, command + " is not executable: see its permissions (chmod +x)");
  }
  if (error == ENOEXEC) {
    return fail(
        ErrorKind::app,
        command + " is no program of this machine: wrong architecture, or a script without #!");
  }
  Failure failure = refused_errno("cannot start " + command, error);
  failure.value().kind = ErrorKind::app;
  return failure;
}

}  // namespace

Failure start_failure(const StartOrder& order, Stage stage, int error) {
  switch (stage) {
    case Stage::exec:
      return exec_failure(order, error);
    case Stage::workdir: {
      Failure failure = refused_errno(fmt::format("cannot enter workdir {}", order.workdir), error);
      failure.value().kind = ErrorKind::app;
      return failure;
    }
    case Stage::stdout_file:
      return refused_errno(fmt::format("cannot open {}", order.stdout_file), error);
    case Stage::stderr_file:
      return refused_errno(fmt::format("cannot open {}", order.stderr_file), error);
    case Stage::cgroup:
      return refused_errno("cannot move the app into its control group", error);
    case Stage::fork:
    case Stage::none:
      break;
  }
  return refused_errno("cannot start a process", error);
}

}  // namespace assay::launch
