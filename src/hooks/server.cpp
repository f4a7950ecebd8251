// SPDX-License-Identifier: Apache-2.0
#include "budget.h"
#include "intake.h"
#include "losses.h"
#include "message_parser.h"
#include "shared_memory.h"
#include "unix_socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <optional>
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
  Client(Fd connection, const Caller& caller, const Limits& limits, Intakes& intakes, Budget& all)
      : fd(std::move(connection)),
        budget(limits.caller_bytes, &all),
        intake(intakes.meet(caller, budget)),
        parser(limits.message_bytes) {}
  Fd fd;
  Budget budget;
  std::unique_ptr<Intake> intake;
  MessageParser parser;
  bool greeted = false;
  std::optional<SharedMemory> memory;
  uint64_t heard_in = 0;  ///< the poll in which it had its turn
  Losses losses;
};

/// Gives what one client's parser finds to its intake.
class ClientsReadings final : public ReadingSink {
 public:
  ClientsReadings(Client& client, const Arrival& arrival) : client_(client), arrival_(arrival) {}
  void take(const Reading& reading) override;
  void greeted() override { client_.greeted = true; }

 private:
  Client& client_;
  Arrival arrival_;
};

void ClientsReadings::take(const Reading& reading) {
  Intake& intake = *client_.intake;
  switch (reading.role) {
    case Role::value:
      return intake.take(reading, arrival_, client_.losses);
    case Role::app:
      return intake.name_app(reading, client_.losses);
    case Role::slot:
      return intake.name_slot(reading, client_.losses);
    case Role::histogram:
      if (client_.memory && intake.name_histogram(reading, client_.losses)) {
        client_.memory->add_histogram(reading.index, client_.budget, client_.losses);
      }
  }
}

Fd spare_descriptor() {
  return Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

class EpollServer final : public Server {
 public:
  EpollServer(ListeningSocket listener, Fd epoll, const Clock& clock,
              std::unique_ptr<Intakes> intakes, const Limits& limits)
      : listener_(std::move(listener)),
        epoll_(std::move(epoll)),
        spare_(spare_descriptor()),
        clock_(clock),
        intakes_(std::move(intakes)),
        limits_(limits),
        budget_(limits.bytes),
        events_(limits.clients + 1),
        buffer_(1U << 16U) {}

  bool watch(int fd);
  int fd() const override { return epoll_.get(); }
  void poll() override;
  void visit_every(Nanoseconds interval) override {
    limits_.visit_interval = interval;
    next_visit_ = std::min(next_visit_, clock_.now() + interval);
  }
  const std::map<std::string, double>& latest() const override { return intakes_->latest(); }

 private:
  void accept_all();
  bool accept_one();
  void refuse_one();
  void read_from(int fd);
  void visit_all();
  bool hear(Client& client, const Arrival& arrival);
  bool drain(Client& client, const Arrival& arrival);
  void end(Client& client, const Arrival& arrival);
  Arrival arrival() const { return {clock_.now(), clock_.wall()}; }

  ListeningSocket listener_;
  Fd epoll_;
  Fd spare_;  ///< given up to refuse a client when no descriptor is left, so that poll() cannot
              ///< spin
  const Clock& clock_;
  std::unique_ptr<Intakes> intakes_;
  Limits limits_;
  Budget budget_;
  Losses losses_;
  std::unordered_map<int, Client> clients_;
  uint64_t polls_ = 0;
  Timestamp next_visit_;
  SharedMemory::Buffers shared_;
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
  ++polls_;
  const int ready = ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), 0);
  for (int i = 0; i < ready; ++i) {
    const int fd = events_[static_cast<size_t>(i)].data.fd;
    if (fd == listener_.get()) {
      accept_all();
    } else {
      read_from(fd);
    }
  }
  if (clock_.now() >= next_visit_) visit_all();
  intakes_->tell(losses_);
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
  clients_.try_emplace(key, std::move(fd), caller_of(key), limits_, *intakes_, budget_);
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
  if (client == clients_.end()) return;
  const Arrival now = arrival();
  const bool alive = hear(client->second, now);
  if (!alive) end(client->second, now);
  client->second.intake->tell(client->second.losses);
  if (!alive) clients_.erase(client);
}

/// Looks at what clients have counted in shared memory, of which no descriptor tells.
void EpollServer::visit_all() {
  const Arrival now = arrival();
  next_visit_ = now.time + limits_.visit_interval;
  for (auto& [fd, client] : clients_) {
    if (client.memory) {
      // One that is gone will be seen by its descriptor.
      if (client.heard_in != polls_) hear(client, now);
      client.memory->take_durations(shared_, *client.intake, now, client.budget, client.losses);
    }
    client.intake->end_visit(now);
    client.intake->tell(client.losses);
  }
}

/// Takes messages and events; false when the client is gone.
bool EpollServer::hear(Client& client, const Arrival& now) {
  client.heard_in = polls_;
  if (client.memory) client.memory->look(client.losses);
  const bool alive = drain(client, now);
  if (client.memory) client.memory->take_events(shared_, *client.intake, now, client.losses);
  if (alive && client.greeted && !client.memory) {
    client.greeted = false;
    client.memory = SharedMemory::offer(client.fd.get(), intakes_->wants_histograms());
  }
  return alive;
}

void EpollServer::end(Client& client, const Arrival& now) {
  client.parser.finish(client.losses);
  if (client.memory) {
    client.memory->look(client.losses);
    client.memory->take_events(shared_, *client.intake, now, client.losses);
    client.memory->take_durations(shared_, *client.intake, now, client.budget, client.losses);
  }
  client.intake->end_visit(now);
}

/// Reads what has come, up to the limit; false when the client is gone.
bool EpollServer::drain(Client& client, const Arrival& now) {
  ClientsReadings readings(client, now);
  size_t left = limits_.bytes_per_poll;
  while (left > 0) {
    const ssize_t n = ::read(client.fd.get(), buffer_.data(), std::min(left, buffer_.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    if (n == 0) return false;
    const auto taken = static_cast<size_t>(n);
    client.parser.feed({buffer_.data(), taken}, readings, client.losses);
    if (taken < buffer_.size()) return true;
    left -= taken;
  }
  return true;
}

Result<std::unique_ptr<Server>> listen_for(const std::filesystem::path& path, const Clock& clock,
                                           std::unique_ptr<Intakes> intakes, const Limits& limits) {
  ASSAY_TRY(ListeningSocket listener, ListeningSocket::open(path));
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return refused_errno("cannot make an epoll descriptor", errno);
  const int listening = listener.get();
  auto server = std::make_unique<EpollServer>(std::move(listener), std::move(epoll), clock,
                                              std::move(intakes), limits);
  if (!server->watch(listening)) return refused_errno("cannot watch the metrics socket", errno);
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace

Result<std::unique_ptr<Server>> listen(const std::filesystem::path& path, const Clock& clock,
                                       SampleSink& sink, const Limits& limits) {
  return listen_for(path, clock, intakes_for(sink, limits), limits);
}

Result<std::unique_ptr<Server>> listen(const std::filesystem::path& path, const Clock& clock,
                                       ReportSink& sink, const Limits& limits) {
  return listen_for(path, clock, intakes_for(sink, limits), limits);
}

}  // namespace assay::hooks
