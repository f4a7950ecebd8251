// SPDX-License-Identifier: Apache-2.0
#include "docker/testing/fake_engine.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <assay/base/text.h>
#include <gtest/gtest.h>

namespace assay::launch::testing {
namespace {

Fd listen_at(const std::string& path) {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(fd.get(), 8), 0);
  return fd;
}

size_t body_size(std::string_view head) {
  constexpr std::string_view kName = "Content-Length: ";
  const size_t at = head.find(kName);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = head.substr(at + kName.size());
  return parse_uint(rest.substr(0, rest.find('\r'))).value_or(0);
}

/// The whole request; its first line without the protocol is returned.
std::string read_request(int fd) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (true) {
    const size_t end = text.find("\r\n\r\n");
    if (end != std::string::npos && text.size() >= end + 4 + body_size(text.substr(0, end)))
      return text.substr(0, text.find(" HTTP/"));
    const ssize_t size = ::read(fd, buffer.data(), buffer.size());
    if (size <= 0) return "";
    text.append(buffer.data(), static_cast<size_t>(size));
  }
}

}  // namespace

FakeEngine::FakeEngine(Handler handler)
    : handler_(std::move(handler)), listener_(listen_at(folder_.path() / "engine.sock")) {
  thread_ = std::jthread([this] { serve(); });
}

FakeEngine::~FakeEngine() {
  if (listener_.valid()) ::shutdown(listener_.get(), SHUT_RDWR);
}

net::Endpoint FakeEngine::endpoint() const {
  net::Endpoint endpoint;
  endpoint.unix_socket = folder_.path() / "engine.sock";
  return endpoint;
}

int FakeEngine::asked(const std::string& beginning) const {
  const Lock lock(mutex_);
  return static_cast<int>(
      std::count_if(requests_.begin(), requests_.end(),
                    [&](const std::string& request) { return request.starts_with(beginning); }));
}

void FakeEngine::serve() {
  while (true) {
    Fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection.valid()) return;
    const std::string request = read_request(connection.get());
    if (request.empty()) continue;
    {
      const Lock lock(mutex_);
      requests_.push_back(request);
    }
    const auto answer = handler_(request);
    if (!answer) continue;
    if (answer->status != 0) {
      (void)!write_all(connection.get(), fmt::format("HTTP/1.1 {} X\r\nConnection: close\r\n\r\n{}",
                                                     answer->status, answer->body));
    }
    if (answer->open) open_.push_back(std::move(connection));
    if (answer->last) {
      ::shutdown(listener_.get(), SHUT_RDWR);
      return;
    }
  }
}

}  // namespace assay::launch::testing
