// SPDX-License-Identifier: Apache-2.0
#include "playback/frame_file.h"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <assay/base/files.h>

namespace assay::launch {
namespace {

/// Of a regular file; 0 for anything else.
size_t size_of(int fd) {
  struct stat status {};
  const bool good = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  return good ? static_cast<size_t>(status.st_size) : 0;
}

Fd open_file(const std::filesystem::path& file) {
  return Fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

}  // namespace

bool is_whole_jpeg(const std::filesystem::path& file) {
  const Fd fd = open_file(file);
  const size_t size = size_of(fd.get());
  std::array<char, 512> bytes{};
  if (size < 4 || ::pread(fd.get(), bytes.data(), 3, 0) != 3) return false;
  if (std::string_view(bytes.data(), 3) != "\xff\xd8\xff") return false;
  const size_t tail = std::min(size, bytes.size());
  const ssize_t n = ::pread(fd.get(), bytes.data(), tail, static_cast<off_t>(size - tail));
  if (n != static_cast<ssize_t>(tail)) return false;
  return std::string_view(bytes.data(), tail).rfind("\xff\xd9") != std::string_view::npos;
}

std::shared_ptr<const FrameFile> FrameFile::map(const std::filesystem::path& file) {
  const Fd fd = open_file(file);
  const size_t size = size_of(fd.get());
  if (size == 0) return nullptr;
  void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd.get(), 0);
  if (data == MAP_FAILED) return nullptr;
  return std::shared_ptr<const FrameFile>(new FrameFile(data, size));
}

FrameFile::~FrameFile() {
  ::munmap(data_, size_);
}

}  // namespace assay::launch
