// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "process/owner.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include <assay/base/files.h>

namespace assay::launch {

/// What a process was started for, from its environment.
struct Mark {
  std::string run;  ///< "session/run"
  Owner owner;
};
std::optional<Mark> parse_mark(std::string_view environ_file);

/// Kills every process of this machine whose mark satisfies `belongs`, again until none is left;
/// the calling process and those it descends from are spared. Returns what was killed, each once.
struct Killed {
  pid_t pid = 0;
  std::string name;
  Mark mark;
};
std::vector<Killed> kill_marked(const std::function<bool(const Mark&)>& belongs);

/// Kills what is in a group of ours, marked or not: an app may have cleared its children's
/// environment. Returns what was killed at first sight.
std::vector<pid_t> kill_group(const std::string& folder);

}  // namespace assay::launch
