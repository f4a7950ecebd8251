// SPDX-License-Identifier: Apache-2.0
#include "calibrate/disk.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

#include <assay/base/files.h>

namespace assay::collect {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr size_t kBlock = size_t{4} << 20U;
constexpr size_t kAlign = 4096;

double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

/// It is gone when we are.
Result<Fd> open_nameless(const std::filesystem::path& folder) {
  std::string name = (folder / "assay-disk-XXXXXX").native();
  Fd file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.valid()) return refused_errno("cannot write into " + folder.native(), errno);
  Fd direct(::open(name.c_str(), O_RDWR | O_CLOEXEC | O_DIRECT));
  ::unlink(name.c_str());
  return direct.valid() ? std::move(direct) : std::move(file);
}

/// Speeds of blocks, until the end of the bytes or of the time.
template <class Step>
Result<std::vector<double>> block_rates(size_t bytes, double seconds, const Step& step) {
  std::vector<double> rates;
  const auto begin = SteadyClock::now();
  for (size_t at = 0; at + kBlock <= bytes && (at == 0 || seconds_since(begin) < seconds);
       at += kBlock) {
    const auto block = SteadyClock::now();
    if (step(static_cast<off_t>(at)) != static_cast<ssize_t>(kBlock))
      return refused_errno("the disk could not be measured", errno);
    rates.push_back(static_cast<double>(kBlock) / seconds_since(block));
  }
  return rates;
}

struct Free {
  void operator()(char* block) const { std::free(block); }
};

}  // namespace

Result<DiskFigures> measure_disk(const std::filesystem::path& folder, size_t bytes,
                                 double seconds) {
  ASSAY_TRY(const Fd file, open_nameless(folder));
  const std::unique_ptr<char, Free> block(static_cast<char*>(std::aligned_alloc(kAlign, kBlock)));
  if (!block) return refused("there is no memory for a block of the disk");
  std::memset(block.get(), 'a', kBlock);
  const auto write = [&](off_t at) {
    const ssize_t n = ::pwrite(file.get(), block.get(), kBlock, at);
    return ::fdatasync(file.get()) == 0 ? n : -1;
  };
  ASSAY_TRY(const auto written, block_rates(bytes, seconds, write));
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  const auto read = [&](off_t at) { return ::pread(file.get(), block.get(), kBlock, at); };
  ASSAY_TRY(const auto got, block_rates(written.size() * kBlock, seconds, read));
  return DiskFigures{typical(got), typical(written)};
}

}  // namespace assay::collect
