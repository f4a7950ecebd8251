// SPDX-License-Identifier: Apache-2.0
#include "log_follower.h"

#include <fcntl.h>
#include <unistd.h>

namespace assay::session {

bool LogFollower::drain(const std::function<bool()>& ready,
                        const std::function<void(std::string_view)>& take) {
  constexpr std::array<const char*, 2> kNames = {"stdout.log", "stderr.log"};
  constexpr int kPieces = 16;
  std::array<char, 4096> buffer{};
  bool any = false;
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (!logs_[i].valid())
      logs_[i] = Fd(::open((folder_ / kNames[i]).c_str(), O_RDONLY | O_CLOEXEC));
    for (int piece = 0; piece < kPieces && logs_[i].valid() && ready(); ++piece) {
      const ssize_t n = ::read(logs_[i].get(), buffer.data(), buffer.size());
      if (n <= 0) break;
      take(std::string_view(buffer.data(), static_cast<size_t>(n)));
      any = true;
    }
  }
  return any;
}

}  // namespace assay::session
