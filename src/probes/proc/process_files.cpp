// SPDX-License-Identifier: Apache-2.0
#include "proc/process_files.h"

#include <array>
#include <fcntl.h>
#include <fmt/format.h>

namespace assay::probes {
namespace {

using PathBuffer = std::array<char, 4096>;

template <class... Args>
Fd open_formatted(fmt::format_string<Args...> format, Args&&... args) {
  PathBuffer path;
  const auto end =
      fmt::format_to_n(path.data(), path.size() - 1, format, std::forward<Args>(args)...);
  *end.out = '\0';
  return Fd(::open(path.data(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

ProcessFiles::ProcessFiles(const SysRoot& root) : prefix_(root.path("/proc").native()) {}

Fd ProcessFiles::open(pid_t pid, std::string_view name) const {
  return open_formatted("{}/{}/{}", prefix_, pid, name);
}

Fd ProcessFiles::open(pid_t pid, pid_t thread, std::string_view name) const {
  return open_formatted("{}/{}/task/{}/{}", prefix_, pid, thread, name);
}

std::optional<std::string_view> ProcessFiles::read(const Fd& kept, pid_t pid, std::string_view name,
                                                   std::span<char> buffer) const {
  if (kept.valid()) return pread_text(kept.get(), buffer);
  const Fd fd = open(pid, name);
  if (!fd.valid()) return std::nullopt;
  return pread_text(fd.get(), buffer);
}

}  // namespace assay::probes
