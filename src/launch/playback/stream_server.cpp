// SPDX-License-Identifier: Apache-2.0
#include "playback/stream_server.h"

#include "playback/connection.h"

#include <atomic>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <pthread.h>
#include <thread>

namespace assay::launch {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
/// Before accepting is tried again when no descriptor is left.
constexpr std::chrono::milliseconds kRest(100);

/// Signals are for the other threads.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

class AsioStreamServer final : public StreamServer {
 public:
  explicit AsioStreamServer(std::vector<Source*> sources) : sources_(std::move(sources)) {}
  ~AsioStreamServer() override { context_.stop(); }

  Result<void> start(const std::string& address);
  std::string where() const override { return where_; }
  uint64_t refused_clients() const override { return refused_; }
  double cpu_seconds() const override;

 private:
  asio::awaitable<void> accept_clients();
  asio::awaitable<void> serve(tcp::socket socket);

  std::vector<Source*> sources_;
  size_t clients_ = 0;  ///< of the thread
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  std::string where_;
  std::atomic<uint64_t> refused_{0};
  std::jthread thread_;  ///< last: ends before what it uses
};

Result<void> AsioStreamServer::start(const std::string& address) {
  boost::system::error_code error;
  const auto ip = asio::ip::make_address(address, error);
  if (error) return bad_input(fmt::format("'{}' is no address to play at", address));
  acceptor_.open(tcp::endpoint(ip, 0).protocol(), error);
  ::fcntl(acceptor_.native_handle(), F_SETFD, FD_CLOEXEC);
  // An engine may make the network of its containers, and this address, only with the first of
  // them.
  const int yes = 1;
  ::setsockopt(acceptor_.native_handle(), IPPROTO_IP, IP_FREEBIND, &yes, sizeof yes);
  if (!error) acceptor_.bind(tcp::endpoint(ip, 0), error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    return refused(fmt::format("cannot play the dataset at {}: {}", address, error.message()));
  const auto endpoint = acceptor_.local_endpoint();
  where_ = fmt::format("{}:{}", ip.is_v6() ? '[' + address + ']' : address, endpoint.port());
  asio::co_spawn(context_, accept_clients(), asio::detached);
  const NoSignals without;
  thread_ = std::jthread([this] { context_.run(); });
  ::pthread_setname_np(thread_.native_handle(), "assay-playback");
  return {};
}

double AsioStreamServer::cpu_seconds() const {
  clockid_t clock{};
  timespec used{};
  auto& thread = const_cast<std::jthread&>(thread_);
  if (::pthread_getcpuclockid(thread.native_handle(), &clock) != 0) return 0;
  if (::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

asio::awaitable<void> AsioStreamServer::accept_clients() {
  asio::steady_timer rest(context_);
  for (;;) {
    auto [error, socket] = co_await acceptor_.async_accept(kToken);
    if (error == asio::error::operation_aborted) co_return;
    if (error) {
      rest.expires_after(kRest);
      co_await rest.async_wait(kToken);
    } else if (clients_ >= kMaxClients) {
      ++refused_;
    } else {
      asio::co_spawn(context_, serve(std::move(socket)), asio::detached);
    }
  }
}

asio::awaitable<void> AsioStreamServer::serve(tcp::socket socket) {
  struct Counted {
    explicit Counted(size_t& clients) : count(clients) { ++count; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    ~Counted() { --count; }
    size_t& count;
  };
  const Counted counted(clients_);
  co_await serve_client(std::move(socket), sources_);
}

}  // namespace

Result<std::unique_ptr<StreamServer>> StreamServer::listen(const std::string& address,
                                                           std::vector<Source*> sources) {
  auto server = std::make_unique<AsioStreamServer>(std::move(sources));
  ASSAY_CHECK(server->start(address));
  return std::unique_ptr<StreamServer>(std::move(server));
}

}  // namespace assay::launch
