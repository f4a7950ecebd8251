// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <sys/types.h>
#include <utility>

namespace assay::probes {

/// Called for each entry of a folder but "." and "..".
using EntryCall = void (*)(void* context, std::string_view name);

/// Lists an open folder from its start, without allocation; false when it cannot be read.
bool list_folder(int fd, EntryCall call, void* context);

/// Calls `call(name)` for each entry.
template <class Call>
bool for_each_entry(int fd, Call&& call) {
  return list_folder(
      fd, [](void* context, std::string_view name) { (*static_cast<Call*>(context))(name); },
      &call);
}

/// A process or thread id from a file name; 0 when it is none.
pid_t id_of(std::string_view name);

/// Calls `call(pid)` for each entry that is a number.
template <class Call>
bool for_each_number(int fd, Call&& call) {
  auto on_entry = [&](std::string_view name) {
    if (const pid_t id = id_of(name); id != 0) call(id);
  };
  return list_folder(
      fd,
      [](void* context, std::string_view name) {
        (*static_cast<decltype(on_entry)*>(context))(name);
      },
      &on_entry);
}

}  // namespace assay::probes
