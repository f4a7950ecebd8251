// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <arpa/inet.h>
#include <atomic>
#include <fmt/format.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <vector>

#include <assay/base/files.h>
#include <gtest/gtest.h>

namespace assay::cluster::testing {

/// Lets everybody connect and never answers.
class HangingSocket {
 public:
  HangingSocket() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_.get(), place, size), 0);
    EXPECT_EQ(::listen(listener_.get(), 100), 0);
    EXPECT_EQ(::getsockname(listener_.get(), place, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { accept_all(); });
  }
  HangingSocket(const HangingSocket&) = delete;
  HangingSocket& operator=(const HangingSocket&) = delete;
  ~HangingSocket() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  size_t connections() const { return connections_; }
  /// How many waited at the same time, at most.
  size_t most() const { return most_; }

 private:
  void accept_all() {
    std::vector<Fd> open;
    for (Fd one(::accept(listener_.get(), nullptr, nullptr)); one.valid();
         one = Fd(::accept(listener_.get(), nullptr, nullptr))) {
      ++connections_;
      open.push_back(std::move(one));
      std::erase_if(open, [](const Fd& fd) {
        pollfd left = {fd.get(), POLLRDHUP, 0};
        return ::poll(&left, 1, 0) > 0;
      });
      most_ = std::max(most_.load(), open.size());
    }
  }

  Fd listener_;
  int port_ = 0;
  std::atomic<size_t> connections_ = 0;
  std::atomic<size_t> most_ = 0;
  std::thread thread_;
};

}  // namespace assay::cluster::testing
