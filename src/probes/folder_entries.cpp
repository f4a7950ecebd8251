// SPDX-License-Identifier: Apache-2.0
#include "folder_entries.h"

#include <array>
#include <cstddef>
#include <dirent.h>
#include <unistd.h>

#include <assay/base/text.h>

namespace assay::probes {

bool list_folder(int fd, EntryCall call, void* context) {
  if (::lseek(fd, 0, SEEK_SET) != 0) return false;
  alignas(dirent64) std::array<char, 8192> buffer{};
  while (true) {
    const ssize_t n = ::getdents64(fd, buffer.data(), buffer.size());
    if (n < 0) return false;
    if (n == 0) return true;
    for (ssize_t at = 0; at < n;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") call(context, name);
      at += entry->d_reclen;
    }
  }
}

pid_t id_of(std::string_view name) {
  const auto number = parse_uint(name);
  return number && *number <= INT32_MAX ? static_cast<pid_t>(*number) : 0;
}

}  // namespace assay::probes
