// SPDX-License-Identifier: Apache-2.0
#include "losses.h"
#include "message_parser.h"
#include "recorder.h"
#include "unix_socket.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>

#include <assay/base/files.h>
#include <assay/hooks/server.h>

namespace assay::hooks {
namespace {

struct Client {
  Client(Fd connection, Caller who, size_t message_bytes)
      : fd(std::move(connection)), caller(std::move(who)), parser(message_bytes) {}
  Fd fd;
  Caller caller;
  MessageParser parser;
};

/// Gives what one client's parser finds to the recorder.
class CallersReadings final : public ReadingSink {
 public:
  CallersReadings(Recorder& recorder, const Caller& caller, const Arrival& arrival, Losses& losses)
      : recorder_(recorder), caller_(caller), arrival_(arrival), losses_(losses) {}
  void take(const Reading& reading) override {
    recorder_.record(reading, caller_, arrival_, losses_);
  }

 private:
  Recorder& recorder_;
  const Caller& caller_;
  Arrival arrival_;
  Losses& losses_;
};

Fd spare_descriptor() {
  return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

class EpollServer final : public Server {
 public:
  EpollServer(ListeningSocket listener, Fd epoll, const Clock& clock, SampleSink& sink,
              const Limits& limits)
      : listener_(std::move(listener)),
        epoll_(std::move(epoll)),
        spare_(spare_descriptor()),
        clock_(clock),
        sink_(sink),
        limits_(limits),
        recorder_(sink, limits.names),
        events_(limits.clients + 1),
        buffer_(1U << 16U) {}

  bool watch(int fd);
  int fd() const override { return epoll_.get(); }
  void poll() override;
  const std::map<std::string, double>& latest() const override { return recorder_.latest(); }

 private:
  void accept_all();
  bool accept_one();
  void refuse_one();
  void read_from(int fd);
  bool drain(Client& client);

  ListeningSocket listener_;
  Fd epoll_;
  Fd spare_;  ///< given up to refuse a client when no descriptor is left, so that poll() cannot
              ///< spin
  const Clock& clock_;
  SampleSink& sink_;
  Limits limits_;
  Recorder recorder_;
  Losses losses_;
  std::unordered_map<int, Client> clients_;
  std::vector<epoll_event> events_;
  std::vector<char> buffer_;
};

bool EpollServer::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.fd = fd;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void EpollServer::poll() {
  const int ready = ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), 0);
  for (int i = 0; i < ready; ++i) {
    const int fd = events_[static_cast<size_t>(i)].data.fd;
    if (fd == listener_.get()) {
      accept_all();
    } else {
      read_from(fd);
    }
  }
  losses_.tell(sink_);
}

/// As many as there can be clients and no more, so that those who call again and again get a turn
/// and not the floor.
void EpollServer::accept_all() {
  for (size_t i = 0; i < limits_.clients + 1; ++i) {
    if (!accept_one()) return;
  }
}

bool EpollServer::accept_one() {
  Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd.valid()) {
    if (errno == ECONNABORTED || errno == EINTR) return true;
    if (errno == EMFILE || errno == ENFILE) refuse_one();
    return false;
  }
  if (clients_.size() >= limits_.clients) {
    losses_.add(Trouble::too_many_clients);
    return true;
  }
  if (!watch(fd.get())) {
    losses_.add(Trouble::no_descriptor);
    return true;
  }
  const int key = fd.get();
  Caller caller = caller_of(key);
  clients_.try_emplace(key, std::move(fd), std::move(caller), limits_.message_bytes);
  // One that came, spoke and left between two polls is heard in this one, which may be the last.
  read_from(key);
  return true;
}

void EpollServer::refuse_one() {
  losses_.add(Trouble::no_descriptor);
  spare_.reset();
  Fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)).reset();
  spare_ = spare_descriptor();
}

void EpollServer::read_from(int fd) {
  const auto client = clients_.find(fd);
  if (client == clients_.end() || drain(client->second)) return;
  client->second.parser.finish(losses_);
  clients_.erase(client);
}

/// Reads what has come, up to the limit; false when the client is gone.
bool EpollServer::drain(Client& client) {
  CallersReadings readings(recorder_, client.caller, {clock_.now(), clock_.wall()}, losses_);
  size_t left = limits_.bytes_per_poll;
  while (left > 0) {
    const ssize_t n = ::read(client.fd.get(), buffer_.data(), std::min(left, buffer_.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    const auto taken = static_cast<size_t>(n);
    client.parser.feed({buffer_.data(), taken}, readings, losses_);
    if (taken < buffer_.size()) return true;
    left -= taken;
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<Server>> listen(const std::filesystem::path& path, const Clock& clock,
                                       SampleSink& sink, const Limits& limits) {
  ASSAY_TRY(ListeningSocket listener, ListeningSocket::open(path));
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return refused_errno("cannot make an epoll descriptor", errno);
  const int listening = listener.get();
  auto server =
      std::make_unique<EpollServer>(std::move(listener), std::move(epoll), clock, sink, limits);
  if (!server->watch(listening)) return refused_errno("cannot watch the metrics socket", errno);
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace assay::hooks
