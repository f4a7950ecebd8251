// SPDX-License-Identifier: Apache-2.0
#include "log_follower.h"

#include <fcntl.h>
#include <unistd.h>

namespace assay::session {

void LogFollower::drain(const std::function<void(std::string_view)>& take) {
  constexpr std::array<const char*, 2> kNames = {"stdout.log", "stderr.log"};
  std::array<char, 65536> buffer{};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (!logs_[i].valid())
      logs_[i] = Fd(::open((folder_ / kNames[i]).c_str(), O_RDONLY | O_CLOEXEC));
    if (!logs_[i].valid()) continue;
    // One piece a call: an app that writes faster than the terminal takes must not hold up the
    // beat.
    const ssize_t n = ::read(logs_[i].get(), buffer.data(), buffer.size());
    if (n > 0) take(std::string_view(buffer.data(), static_cast<size_t>(n)));
  }
}

}  // namespace assay::session
