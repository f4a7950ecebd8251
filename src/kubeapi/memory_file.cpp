// SPDX-License-Identifier: Apache-2.0
#include "memory_file.h"

#include <cerrno>
#include <fmt/format.h>
#include <sys/mman.h>

namespace assay::kubeapi {

Result<std::shared_ptr<const Fd>> keep_in_memory(const char* name, const std::string& text) {
  Fd file(::memfd_create(name, MFD_CLOEXEC));
  if (!file.valid()) return refused_errno("cannot keep a certificate in memory", errno);
  ASSAY_CHECK(write_all(file.get(), text));
  return std::make_shared<const Fd>(std::move(file));
}

std::filesystem::path path_in_memory(const Fd& file) {
  return fmt::format("/proc/self/fd/{}", file.get());
}

}  // namespace assay::kubeapi
