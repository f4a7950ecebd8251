// SPDX-License-Identifier: Apache-2.0
#include "process/wire.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>

namespace assay::launch {
namespace {

constexpr size_t kPiece = 32U << 10U;
constexpr size_t kMaxStart = 16U << 20U;

void put_number(std::string& out, uint32_t number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof bytes);
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, static_cast<uint32_t>(text.size()));
  out.append(text);
}

void put_list(std::string& out, const std::vector<std::string>& list) {
  put_number(out, static_cast<uint32_t>(list.size()));
  for (const auto& text : list) put_text(out, text);
}

/// Takes values off the front; once something does not fit, everything after it fails too.
class Taker {
 public:
  explicit Taker(std::string_view bytes) : rest_(bytes) {}

  uint32_t number() {
    uint32_t value = 0;
    if (rest_.size() < sizeof value) return fail();
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }

  std::string text() {
    const uint32_t size = number();
    if (size > rest_.size()) return std::string(fail(), ' ');
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }

  std::vector<std::string> list() {
    std::vector<std::string> values;
    for (uint32_t left = number(); left > 0 && ok_; --left) values.push_back(text());
    return values;
  }

  bool done() const { return ok_ && rest_.empty(); }

 private:
  uint32_t fail() {
    ok_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool ok_ = true;
};

Result<void> send_packet(int fd, const void* data, size_t size) {
  while (true) {
    if (::send(fd, data, size, MSG_NOSIGNAL) >= 0) return {};
    if (errno != EINTR) return refused_errno("cannot talk to the keeper process", errno);
  }
}

template <class T>
Received<T> receive_packet(int fd, Wait wait) {
  T message;
  const int flags = MSG_TRUNC | (wait == Wait::no ? MSG_DONTWAIT : 0);
  while (true) {
    const ssize_t n = ::recv(fd, &message, sizeof message, flags);
    if (n < 0 && errno == EINTR) continue;
    if (n == static_cast<ssize_t>(sizeof message)) return {message, false};
    const bool nothing_yet = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    return {std::nullopt, !nothing_yet};
  }
}

}  // namespace

std::string encode(const StartOrder& order) {
  std::string out;
  put_list(out, order.argv);
  put_list(out, order.env);
  put_text(out, order.workdir);
  put_text(out, order.stdout_file);
  put_text(out, order.stderr_file);
  put_number(out, order.unified ? 1 : 0);
  put_list(out, order.cgroups);
  return out;
}

std::optional<StartOrder> decode(std::string_view bytes) {
  Taker in(bytes);
  StartOrder order;
  order.argv = in.list();
  order.env = in.list();
  order.workdir = in.text();
  order.stdout_file = in.text();
  order.stderr_file = in.text();
  order.unified = in.number() != 0;
  order.cgroups = in.list();
  if (!in.done() || order.argv.empty()) return std::nullopt;
  return order;
}

Result<void> send_order(int fd, const Order& order) {
  return send_packet(fd, &order, sizeof order);
}

Result<void> send_report(int fd, const Report& report) {
  return send_packet(fd, &report, sizeof report);
}

Result<void> send_start(int fd, const StartOrder& order) {
  const std::string bytes = encode(order);
  if (bytes.size() > kMaxStart) {
    return bad_input("the app's command line and environment are larger than 16 MB");
  }
  ASSAY_CHECK(send_order(fd, {OrderKind::start, static_cast<uint32_t>(bytes.size())}));
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view piece = rest.substr(0, kPiece);
    ASSAY_CHECK(send_packet(fd, piece.data(), piece.size()));
    rest.remove_prefix(piece.size());
  }
  return {};
}

Received<Order> receive_order(int fd, Wait wait) {
  return receive_packet<Order>(fd, wait);
}
Received<Report> receive_report(int fd, Wait wait) {
  return receive_packet<Report>(fd, wait);
}

std::optional<StartOrder> receive_start(int fd, size_t size) {
  if (size > kMaxStart) return std::nullopt;
  std::string bytes(size, '\0');
  for (size_t got = 0; got < size;) {
    const ssize_t n = ::recv(fd, bytes.data() + got, std::min(kPiece, size - got), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return std::nullopt;
    got += static_cast<size_t>(n);
  }
  return decode(bytes);
}

}  // namespace assay::launch
