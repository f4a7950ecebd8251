// SPDX-License-Identifier: Apache-2.0
#include "playback/connection.h"

#include "playback/data_config.h"
#include "playback/stream_server.h"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_static_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>

namespace assay::launch {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Clock = Source::Clock;

constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds kRequestTime(10);
/// How far a listener may fall behind before sound is left out.
constexpr uint64_t kSoundPatience = 2UL * Source::kSoundFramesPerSecond;
constexpr std::string_view kBoundary = "assay-frame";

/// A whole frame in one call, where the socket takes it.
size_t all_at_once(const boost::system::error_code& error, size_t) {
  return error ? 0 : 1U << 24U;
}

std::string head(std::string_view status, std::string_view type, std::optional<size_t> size) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\n{}Cache-Control: no-store\r\nConnection: close\r\n\r\n",
      status, type, size ? fmt::format("Content-Length: {}\r\n", *size) : "");
}

std::string answer(std::string_view status) {
  const std::string text = fmt::format("{}\n", status);
  return head(status, "text/plain", text.size()) + text;
}

/// What a request is about.
struct Wish {
  Source* source = nullptr;
  bool chunk = false;  ///< one second of sound instead of all
};

Wish find_wish(std::string_view target, const std::vector<Source*>& sources) {
  const std::string path = url_decoded(target.substr(0, target.find('?')));
  for (const bool chunk : {false, true}) {
    for (Source* source : sources) {
      const std::string own = "/streams/" + source->stream().id + (chunk ? "/chunk" : "");
      if (path == own && (!chunk || source->is_sound())) return {source, chunk};
    }
  }
  return {};
}

/// Empty when it can be granted.
std::string_view refusal_of(http::verb method, const Wish& wish) {
  if (method != http::verb::get && method != http::verb::head) return "405 Method Not Allowed";
  return wish.source == nullptr ? "404 Not Found" : "";
}

std::string type_of(const Wish& wish) {
  if (wish.source->is_sound()) return "audio/wav";
  if (wish.source->stream().kind == StreamKind::image) return "image/jpeg";
  return fmt::format("multipart/x-mixed-replace; boundary={}", kBoundary);
}

/// One client's connection, behind its request.
class Connection {
 public:
  Connection(tcp::socket socket, bool head_only)
      : socket_(std::move(socket)), timer_(socket_.get_executor()), head_only_(head_only) {}

  asio::awaitable<void> answer_wish(Wish wish);
  /// False when the client is gone.
  asio::awaitable<bool> send(std::string_view text);

 private:
  asio::awaitable<void> send_picture(Source& source, uint64_t frame);
  asio::awaitable<void> send_chunk(Source& source, uint64_t frame);
  asio::awaitable<void> play(Source& source, uint64_t frame);
  asio::awaitable<uint64_t> wait_for(Source& source, uint64_t next);
  asio::awaitable<bool> send_frame(Source& source, uint64_t frame);
  asio::awaitable<bool> send_parts(std::string_view before, const FrameFile& file,
                                   std::string_view behind);

  tcp::socket socket_;
  asio::steady_timer timer_;
  bool head_only_;
};

asio::awaitable<bool> Connection::send(std::string_view text) {
  const asio::const_buffer buffer(text.data(), text.size());
  const auto [error, sent] = co_await asio::async_write(socket_, buffer, all_at_once, kToken);
  co_return !error;
}

asio::awaitable<bool> Connection::send_parts(std::string_view before, const FrameFile& file,
                                             std::string_view behind) {
  const std::array<asio::const_buffer, 3> buffers = {
      asio::const_buffer(before.data(), before.size()),
      asio::const_buffer(file.data(), file.size()),
      asio::const_buffer(behind.data(), behind.size())};
  const auto [error, sent] = co_await asio::async_write(socket_, buffers, all_at_once, kToken);
  co_return !error;
}

asio::awaitable<void> Connection::answer_wish(Wish wish) {
  Source& source = *wish.source;
  if (head_only_) {  // which must not start the clock
    const std::string begin = head("200 OK", type_of(wish), std::nullopt);
    co_await send(begin);
    co_return;
  }
  const uint64_t frame = source.current();
  if (source.is_over(frame)) {
    const std::string gone = answer("410 Gone");
    co_await send(gone);
  } else if (wish.chunk) {
    co_await send_chunk(source, frame);
  } else if (source.stream().kind == StreamKind::image) {
    co_await send_picture(source, frame);
  } else {
    co_await play(source, frame);
  }
}

asio::awaitable<void> Connection::send_picture(Source& source, uint64_t frame) {
  const auto picture = source.picture(frame);
  if (!picture) {
    const std::string failed = answer("503 Service Unavailable");
    co_await send(failed);
    co_return;
  }
  const std::string before = head("200 OK", "image/jpeg", picture->size());
  if (co_await send_parts(before, *picture, "")) source.count_sent();
}

asio::awaitable<void> Connection::send_chunk(Source& source, uint64_t frame) {
  const std::string sound = source.sound(frame, Source::kSoundFramesPerSecond);
  const std::string file =
      wav_header(source.sound_format(), static_cast<uint32_t>(sound.size())) + sound;
  const std::string text = head("200 OK", "audio/wav", file.size()) + file;
  if (co_await send(text)) source.count_sent();
}

/// Until `next` is due; gives the frame to send, which is a later one when that has passed.
asio::awaitable<uint64_t> Connection::wait_for(Source& source, uint64_t next) {
  const FrameClock clock = source.clock();
  const auto due = clock.due(next);
  const bool in_time = Clock::now() < due;
  if (in_time) {
    timer_.expires_at(due);
    co_await timer_.async_wait(kToken);
  }
  const uint64_t current = std::max(next, source.current());
  if (in_time && Clock::now() - due > (clock.due(next + 1) - due) / 2)
    source.count_late(current - next + 1);
  if (source.is_sound() && current - next <= kSoundPatience) co_return next;
  if (!in_time) source.count_skipped(current - next);
  co_return current;
}

asio::awaitable<bool> Connection::send_frame(Source& source, uint64_t frame) {
  if (source.is_sound()) {
    const std::string sound = source.sound(frame, 1);
    source.count_sent();
    co_return co_await send(sound);
  }
  const auto picture = source.picture(frame);
  if (!picture) co_return true;
  source.count_sent();
  const std::string before = fmt::format(
      "--{}\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n", kBoundary, picture->size());
  co_return co_await send_parts(before, *picture, "\r\n");
}

asio::awaitable<void> Connection::play(Source& source, uint64_t frame) {
  std::string begin = head("200 OK", type_of({&source}), std::nullopt);
  if (source.is_sound()) begin += wav_header(source.sound_format(), std::nullopt);
  if (!co_await send(begin)) co_return;
  for (;; ++frame) {
    frame = co_await wait_for(source, frame);
    if (source.is_over(frame)) break;
    if (!co_await send_frame(source, frame)) co_return;
  }
  const std::string end = source.is_sound() ? "" : fmt::format("--{}--\r\n", kBoundary);
  co_await send(end);
}

}  // namespace

asio::awaitable<void> serve_client(tcp::socket socket, const std::vector<Source*>& sources) {
  ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
  boost::system::error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  // What a slow client has not read yet is old; it must not pile up in the kernel either.
  socket.set_option(asio::socket_base::send_buffer_size(1U << 20U), ignored);
  boost::beast::tcp_stream stream(std::move(socket));
  stream.expires_after(kRequestTime);
  boost::beast::flat_static_buffer<StreamServer::kMaxRequestBytes> buffer;
  http::request_parser<http::empty_body> parser;
  parser.header_limit(StreamServer::kMaxRequestBytes);
  const auto [error, size] = co_await http::async_read_header(stream, buffer, parser, kToken);
  if (error == http::error::end_of_stream || error == boost::beast::error::timeout) co_return;
  const auto& request = parser.get();
  Connection connection(stream.release_socket(), request.method() == http::verb::head);
  const auto target = request.target();
  const Wish wish = find_wish({target.data(), target.size()}, sources);
  const std::string_view refusal = error ? "400 Bad Request" : refusal_of(request.method(), wish);
  if (refusal.empty()) {
    co_await connection.answer_wish(wish);
  } else {
    const std::string text = answer(refusal);
    co_await connection.send(text);
  }
}

}  // namespace assay::launch
