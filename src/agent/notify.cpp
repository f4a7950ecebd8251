// SPDX-License-Identifier: Apache-2.0
#include "notify.h"

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <assay/base/files.h>

namespace assay::agent {

void notify_systemd(std::string_view state) {
  const char* const variable = std::getenv("NOTIFY_SOCKET");
  const std::string_view path = variable != nullptr ? variable : "";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path.data(), path.size());
  // An abstract address begins with a zero, which is written as "@".
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  (void)::sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), length);
}

void notify_reloading() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  notify_systemd(fmt::format("RELOADING=1\nMONOTONIC_USEC={}",
                             std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
}

}  // namespace assay::agent
