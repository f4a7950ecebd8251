// SPDX-License-Identifier: Apache-2.0
#include "docker/tar_of_one.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace assay::launch {
namespace {

constexpr size_t kBlock = 512;
constexpr uint64_t kLargest = (uint64_t{1} << 33U) - 1;  // what eleven octal digits hold
constexpr size_t kLongestName = 99;

/// The fields of the ustar form, each at its place.
std::string header_of(const std::string& name, uint64_t size) {
  constexpr size_t kMode = 100;
  constexpr size_t kSize = 124;
  constexpr size_t kTime = 136;
  constexpr size_t kSum = 148;
  constexpr size_t kType = 156;
  constexpr size_t kMagic = 257;
  std::string header(kBlock, '\0');
  const auto put = [&](size_t at, const std::string& text) {
    header.replace(at, text.size(), text);
  };
  put(0, name);
  put(kMode, "0000644");
  put(kMode + 8, "0000000");   // user
  put(kMode + 16, "0000000");  // group
  put(kSize, fmt::format("{:011o}", size));
  put(kTime, "00000000000");
  put(kType, "0");
  put(kMagic, std::string("ustar\0", 6) + "00");
  put(kSum, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(kSum, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return header;
}

uint64_t padded(uint64_t size) {
  return (size + kBlock - 1) / kBlock * kBlock;
}

}  // namespace

Result<TarOfOne> TarOfOne::open(const std::filesystem::path& file, const std::string& name) {
  Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat found {};
  if (!fd.valid() || ::fstat(fd.get(), &found) != 0)
    return refused_errno("cannot read " + file.native(), errno);
  const auto size = static_cast<uint64_t>(found.st_size);
  if (!S_ISREG(found.st_mode) || size > kLargest)
    return bad_input(fmt::format("{} is no file of at most 8 GiB", file.native()));
  if (name.empty() || name.size() > kLongestName)
    return bad_input(fmt::format("'{}' is no name for a file in an archive", name));
  return TarOfOne(std::move(fd), size, header_of(name, size));
}

uint64_t TarOfOne::size() const {
  return kBlock + padded(file_size_) + 2 * kBlock;  // two empty blocks are the end
}

size_t TarOfOne::read(char* to, size_t most) {
  const uint64_t file_end = kBlock + file_size_;
  if (at_ < kBlock) {
    const size_t part = std::min<size_t>(most, kBlock - at_);
    std::copy_n(header_.begin() + static_cast<ptrdiff_t>(at_), part, to);
    at_ += part;
    return part;
  }
  if (at_ < file_end) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(most, file_end - at_));
    const ssize_t got = ::pread(file_.get(), to, part, static_cast<off_t>(at_ - kBlock));
    if (got <= 0) return 0;
    at_ += static_cast<uint64_t>(got);
    return static_cast<size_t>(got);
  }
  const auto part = static_cast<size_t>(std::min<uint64_t>(most, size() - at_));
  std::fill_n(to, part, '\0');
  at_ += part;
  return part;
}

}  // namespace assay::launch
