// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <string>
#include <utility>  // before Asio, which forgets it

#include <assay/base/time.h>

namespace assay::net {

struct ShortAnswer {
  int status = 0;  ///< 0: there was no answer
  std::string body;
};

struct ShortCall {
  std::string method = "GET";
  std::string path;
  std::string body = {};  ///< JSON
};

/// Asks a service of this machine without making the event loop wait. An answer of more than
/// `kMaxShortAnswer` bytes is none.
boost::asio::awaitable<ShortAnswer> async_call(std::filesystem::path unix_socket, ShortCall call,
                                               Milliseconds patience);
inline boost::asio::awaitable<ShortAnswer> async_get(std::filesystem::path unix_socket,
                                                     std::string path, Milliseconds patience) {
  return async_call(std::move(unix_socket), {.path = std::move(path)}, patience);
}
constexpr size_t kMaxShortAnswer = 4U << 20U;

}  // namespace assay::net
