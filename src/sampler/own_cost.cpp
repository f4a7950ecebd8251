// SPDX-License-Identifier: Apache-2.0
#include "own_cost.h"

#include <array>
#include <sys/resource.h>
#include <unistd.h>

#include <assay/base/text.h>

namespace assay::sampler {
namespace {

double as_seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

}  // namespace

OwnCost::OwnCost() : page_size_(static_cast<double>(sysconf(_SC_PAGESIZE))) {
  if (auto fd = SysRoot().open("/proc/self/statm")) statm_ = std::move(*fd);
}

double OwnCost::cpu_seconds() const {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return as_seconds(usage.ru_utime) + as_seconds(usage.ru_stime);
}

double OwnCost::resident_bytes() const {
  std::array<char, 128> buffer{};
  auto text = pread_text(statm_.get(), buffer);
  if (!text) return 0;
  next_field(*text, ' ');
  return static_cast<double>(parse_uint(next_field(*text, ' ')).value_or(0)) * page_size_;
}

}  // namespace assay::sampler
