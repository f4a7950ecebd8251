// SPDX-License-Identifier: Apache-2.0
#include "calibrate/network.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <assay/base/files.h>

namespace assay::collect {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr size_t kBlock = size_t{1} << 18U;
constexpr int kPatience = 5000;  ///< milliseconds without any progress
constexpr double kSlice = 0.05;

/// Takes what one sender sends, until it ends.
class Sink {
 public:
  static Result<std::unique_ptr<Sink>> open() {
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket.get(), plain, size) != 0 || ::listen(socket.get(), 1) != 0 ||
        ::getsockname(socket.get(), plain, &size) != 0)
      return refused_errno("cannot listen on loopback", errno);
    return std::make_unique<Sink>(std::move(socket), ntohs(address.sin_port));
  }
  Sink(Fd socket, int port)
      : socket_(std::move(socket)), port_(port), thread_([this] { drain(); }) {}

  std::string address() const { return fmt::format("127.0.0.1:{}", port_); }

 private:
  void drain() const {
    pollfd waiting{socket_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, kPatience) != 1) return;
    const Fd sender(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    std::vector<char> block(kBlock);
    while (::read(sender.get(), block.data(), block.size()) > 0) {
    }
  }

  Fd socket_;
  int port_;
  std::jthread thread_;
};

Result<Fd> connect_to(const std::string& peer) {
  const size_t colon = peer.rfind(':');
  if (colon == 0 || colon == peer.npos)
    return bad_input(fmt::format("'{}' is no address and port, like 192.0.2.7:5201", peer));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error =
      ::getaddrinfo(peer.substr(0, colon).c_str(), peer.substr(colon + 1).c_str(), &hints, &list);
  if (error != 0) return refused(fmt::format("{}: {}", peer, ::gai_strerror(error)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> found(list, ::freeaddrinfo);
  Fd socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{kPatience / 1000, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(socket.get(), found->ai_addr, found->ai_addrlen) != 0)
    return refused_errno("cannot connect to " + peer, errno);
  return socket;
}

/// Sends for one slice; 0 when the other does not take it any more.
double slice_rate(int socket, const std::vector<char>& block) {
  const auto begin = SteadyClock::now();
  double sent = 0;
  double passed = 0;
  do {
    const ssize_t n = ::send(socket, block.data(), block.size(), MSG_NOSIGNAL);
    if (n <= 0) return 0;
    sent += static_cast<double>(n);
    passed = std::chrono::duration<double>(SteadyClock::now() - begin).count();
  } while (passed < kSlice);
  return sent / passed;
}

}  // namespace

Result<Measured> measure_network(const std::string& peer, double seconds) {
  std::unique_ptr<Sink> sink;
  if (peer.empty()) {
    ASSAY_TRY(sink, Sink::open());
  }
  ASSAY_TRY(const Fd socket, connect_to(sink ? sink->address() : peer));
  const std::vector<char> block(kBlock, 'a');
  std::vector<double> rates;
  const auto slices = static_cast<size_t>(seconds / kSlice) + 3;
  for (size_t i = 0; i < slices; ++i) {
    const double rate = slice_rate(socket.get(), block);
    if (rate == 0) return refused_errno("the network could not be measured", errno);
    if (i > 1) rates.push_back(rate);  // the first fill buffers
  }
  return peer.empty() ? best(rates) : typical(rates);
}

}  // namespace assay::collect
