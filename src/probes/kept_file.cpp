// SPDX-License-Identifier: Apache-2.0
#include "kept_file.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>

namespace assay::probes {
namespace {

constexpr size_t kFirstSize = 1024;
constexpr size_t kLargestSize = 4U << 20U;

}  // namespace

Result<KeptFile> KeptFile::open(const SysRoot& root, const std::string& path) {
  ASSAY_TRY(Fd fd, root.open(path));
  KeptFile file(std::move(fd), kFirstSize);
  errno = 0;
  if (!file.read()) return refused_errno(fmt::format("cannot read {}", path), errno);
  return file;
}

Result<KeptFile> KeptFile::reopened(const SysRoot& root, const std::string& path) {
  ASSAY_TRY(KeptFile file, open(root, path));
  file.reopen_ = root.path(path);
  return file;
}

std::optional<std::string_view> KeptFile::read() {
  if (!reopen_.empty()) fd_ = Fd(::open(reopen_.c_str(), O_RDONLY | O_CLOEXEC));
  while (true) {
    const auto text = pread_text(fd_.get(), buffer_);
    // A full buffer may have cut the content.
    if (!text || text->size() < buffer_.size() || buffer_.size() >= kLargestSize) return text;
    buffer_.resize(buffer_.size() * 2);
  }
}

}  // namespace assay::probes
