// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>

namespace assay::launch {

/// The bytes of a plain struct or number, as the kernel takes them.
template <class T>
std::string_view bytes_of(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// One attribute of a netlink message, padded; attributes are put together as text is.
std::string attribute(uint16_t type, std::string_view value);

struct Interface {
  int index = 0;
  std::string name;
  uint32_t mtu = 0;
  bool loopback = false;
  bool up = false;
  int other_end = 0;                 ///< index of the far end of a cable (veth); 0: none
  std::optional<int> other_network;  ///< our number for the network in which that end is
};

/// A conversation with the kernel about one network namespace, which stays that of its making
/// whoever uses it later. One thread at a time.
class Netlink {
 public:
  /// Of the calling thread's network.
  static Result<Netlink> open();
  /// Of another process's network.
  static Result<Netlink> open_in(int namespace_fd);
  /// Of a new network that is gone with this object.
  static Result<Netlink> open_in_new();

  Result<std::vector<Interface>> interfaces();
  /// Our number for another network; nothing when no cable of ours leads there.
  Result<std::optional<int>> number_of(int namespace_fd);
  /// Makes this the queue of what an interface sends. Returns the kernel's errno value; 0: done.
  int set_queue(int interface, std::string_view kind, std::string_view options);

 private:
  explicit Netlink(Fd socket) : socket_(std::move(socket)) {}
  /// Sends a request and gives each message of the answer to `take`; the kernel's errno value.
  int ask(uint16_t type, uint16_t flags, std::string_view body,
          const std::function<void(uint16_t type, std::string_view body)>& take);

  Fd socket_;
  uint32_t sequence_ = 0;
};

}  // namespace assay::launch
