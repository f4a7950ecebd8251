// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <assay/base/files.h>
#include <assay/base/result.h>

namespace assay::launch {

/// The environment variables that mark what we started: "session/run" and an Owner.
inline constexpr std::string_view kRunVariable = "ASSAY_RUN";
inline constexpr std::string_view kOwnerVariable = "ASSAY_OWNER";

/// The `assay` process that something belongs to. The start time tells it from a later process of
/// the same pid; the namespace says in which world the pid counts.
struct Owner {
  pid_t pid = 0;
  uint64_t start_ticks = 0;
  uint64_t pid_namespace = 0;

  /// "pid.start.namespace", as in ASSAY_OWNER and at the end of a control group's name.
  std::string text() const;
  static std::optional<Owner> parse(std::string_view text);
  static Result<Owner> self(const SysRoot& root);

  bool operator==(const Owner&) const = default;
};

/// `unknown` for an owner of another pid namespace: whoever cannot see it must not judge it.
enum class OwnerState : uint8_t { alive, dead, unknown };
OwnerState state_of(const SysRoot& root, const Owner& owner);

/// "assay-<session>-<run>.<owner>", with whatever cannot be in a folder's name replaced.
std::string group_name(std::string_view session_id, int run, const Owner& owner);
/// The owner in a name that group_name made; nothing for any other name.
std::optional<Owner> group_owner(std::string_view name);

struct ProcessStat {
  char state = '?';
  pid_t parent = 0;
  uint64_t start_ticks = 0;
};
std::optional<ProcessStat> read_stat(const SysRoot& root, pid_t pid);

}  // namespace assay::launch
