// SPDX-License-Identifier: Apache-2.0
#include "body_file.h"

#include <algorithm>
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>  // before Asio, which forgets it

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/base/time.h>
#include <assay/net/http_server.h>

namespace assay::net {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::awaitable;
using boost::system::error_code;

struct ServerState {
  asio::io_context& loop;
  HttpServer::Handler handler;
  ServerLimits limits;
  size_t clients = 0;
  std::map<std::string, size_t> callers = {};  ///< connections of each
  bool ended = false;
  std::function<RequestPlan(const ServerRequest&)> plan = {};
  HttpServer::Refuse refuse = refusal;
  std::function<void(const std::string&)> mistaken = {};
  std::unique_ptr<asio::thread_pool> workers = {};  ///< for answers that take their time
  std::unique_ptr<asio::thread_pool> disks = {};    ///< for bodies that go to files
  std::vector<std::function<void()>> closers = {};  ///< of the places that are listened at

  static asio::thread_pool& started(std::unique_ptr<asio::thread_pool>& pool) {
    if (!pool) pool = std::make_unique<asio::thread_pool>(2);
    return *pool;
  }
};

namespace {

using StatePtr = std::shared_ptr<ServerState>;

/// A connection, counted for as long as it lives.
class Counted {
 public:
  Counted(ServerState& state, std::string caller)
      : state_(state), caller_(state.callers.try_emplace(std::move(caller)).first) {
    ++state_.clients;
    ++caller_->second;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() {
    --state_.clients;
    if (--caller_->second == 0) state_.callers.erase(caller_);
  }
  bool is_too_many() const {
    const bool has_address = !caller_->first.empty();
    return state_.clients > state_.limits.clients ||
           (has_address && caller_->second > state_.limits.clients_of_caller);
  }

 private:
  ServerState& state_;
  std::map<std::string, size_t>::iterator caller_;
};

/// Who is at the other end of a connection.
struct Peer {
  Origin origin = Origin::network;
  std::string address = {};
  std::optional<uid_t> user = {};
};

/// Whoever listens on every interface sees 127.0.0.1 as ::ffff:127.0.0.1.
bool is_loopback(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).is_loopback();
  return address.is_loopback();
}

Peer peer_of(const asio::ip::tcp::socket& socket) {
  error_code error;
  const auto peer = socket.remote_endpoint(error);
  if (error) return {};
  return {is_loopback(peer.address()) ? Origin::loopback : Origin::network,
          peer.address().to_string()};
}

/// Root of a container is somebody else than root of this machine.
bool is_in_our_namespace(pid_t pid) {
  std::error_code error;
  const auto own = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  const auto theirs = std::filesystem::read_symlink(fmt::format("/proc/{}/ns/pid", pid), error);
  return !error && own == theirs;
}

Peer peer_of(asio::local::stream_protocol::socket& socket) {
  ucred caller{};
  socklen_t size = sizeof caller;
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &caller, &size) != 0 ||
      !is_in_our_namespace(caller.pid))
    return {Origin::unix_socket};
  return {Origin::unix_socket, "", caller.uid};
}

ServerRequest request_of(const http::request_header<>& message, const Peer& peer) {
  ServerRequest request;
  request.method = std::string(message.method_string());
  std::string_view target(message.target().data(), message.target().size());
  request.path = std::string(next_field(target, '?'));
  request.query = std::string(target);
  request.origin = peer.origin;
  request.user = peer.user;
  request.host = std::string(message[http::field::host]);
  request.page = std::string(message[http::field::origin]);
  request.accept = std::string(message[http::field::accept]);
  request.accept_encoding = std::string(message[http::field::accept_encoding]);
  request.authorization = std::string(message[http::field::authorization]);
  // Some proxies keep that header for themselves; the API server of Kubernetes does.
  if (const auto token = message["Assay-Token"]; request.authorization.empty() && !token.empty())
    request.authorization = "Bearer " + std::string(token);
  request.content_type = std::string(message[http::field::content_type]);
  request.address = peer.address;
  return request;
}

http::response<http::string_body> message_of(ServerResponse& response, bool keep_alive) {
  http::response<http::string_body> message;
  message.result(static_cast<unsigned>(response.status));
  message.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) message.set(name, value);
  message.body() = std::move(response.body);
  if (response.next) {
    message.keep_alive(false);
    message.set(http::field::cache_control, "no-store");
  } else {
    message.keep_alive(keep_alive);
    message.prepare_payload();
  }
  return message;
}

/// What goes on until the client leaves. A client that does not take it is left after `patience`.
template <typename Stream>
awaitable<void> send_pieces(Stream& stream, const ServerResponse& response, StatePtr state) {
  asio::steady_timer timer(stream.get_executor());
  error_code error;
  while (!error && !state->ended) {
    timer.expires_after(response.interval);
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
    if (error || state->ended) co_return;
    const std::string piece = response.next();
    stream.expires_after(state->limits.patience);
    co_await asio::async_write(stream, asio::buffer(piece),
                               asio::redirect_error(asio::use_awaitable, error));
  }
}

/// Whether the other end, which is still there, speaks no HTTP.
bool is_broken(const error_code& error) {
  return error.category() == http::make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message &&
         error != http::error::body_limit;
}

ServerResponse refused_body(const ServerState& state, const error_code& error) {
  if (error == http::error::body_limit) return state.refuse(413, "the request is too large");
  if (error == boost::system::errc::resource_unavailable_try_again)
    return state.refuse(503, "too much is being sent at this moment; come again later");
  if (is_broken(error))
    return state.refuse(400, fmt::format("the request is broken: {}", error.message()));
  return state.refuse(507, fmt::format("the request could not be kept: {}", error.message()));
}

/// Whether the other end is gone.
bool is_lost(const error_code& error) {
  return error && error != http::error::body_limit && !is_broken(error) &&
         error.category() != boost::system::generic_category() &&
         error.category() != boost::system::system_category();
}

using HeadParser = http::request_parser<http::empty_body>;

/// Reads the body into memory. What is wrong with it is in `error`.
template <typename Stream>
awaitable<void> read_text(Stream& stream, beast::flat_buffer& buffer, HeadParser& head,
                          ServerRequest& request, error_code& error) {
  http::request_parser<http::string_body> parser(std::move(head));
  // NOLINTNEXTLINE(bugprone-use-after-move): clang-tidy 14 takes the coroutine for a loop.
  co_await http::async_read(stream, buffer, parser,
                            asio::redirect_error(asio::use_awaitable, error));
  request.body = std::move(parser.get().body());
}

/// The same into a file. Neither a piece nor all of it may come too slowly.
template <typename Stream>
awaitable<void> read_file(Stream& stream, beast::flat_buffer& buffer, HeadParser& head,
                          ServerRequest& request, error_code& error, StatePtr state,
                          std::function<bool(size_t)> take) {
  http::request_parser<http::buffer_body> parser(std::move(head));
  const auto body = std::make_shared<BodyFile>();
  body->file = Fd(::open(request.body_file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!body->file.valid()) error = error_code(errno, boost::system::generic_category());
  const auto& limits = state->limits;
  auto start = std::chrono::steady_clock::now();
  auto& room = parser.get().body();
  room.more = true;
  room.data = body->piece.data();
  room.size = body->piece.size();
  double bytes = 0;
  while (!error) {
    const bool done = parser.is_done();
    if (const size_t filled = body->piece.size() - room.size;
        room.size == 0 || (done && filled > 0)) {
      if (take && !take(filled)) {
        error = error_code(EAGAIN, boost::system::generic_category());
        break;
      }
      auto written = asio::co_spawn(ServerState::started(state->disks), write_piece(body, filled),
                                    asio::use_awaitable);
      const auto waits = std::chrono::steady_clock::now();
      // NOLINTNEXTLINE(bugprone-use-after-move): clang-tidy 14 takes the coroutine for a loop.
      error = co_await std::move(written);
      start += std::chrono::steady_clock::now() - waits;  // the disk's time, not the client's
      room.data = body->piece.data();
      room.size = body->piece.size();
    }
    if (done || error) break;
    const auto allowed = limits.patience + std::chrono::duration_cast<Milliseconds>(
                                               from_seconds(bytes / limits.least_bytes_per_second));
    const auto now = std::chrono::steady_clock::now();
    stream.expires_at(std::min(now + limits.patience, start + allowed));
    bytes += static_cast<double>(co_await http::async_read_some(
        stream, buffer, parser, asio::redirect_error(asio::use_awaitable, error)));
    if (error == http::error::need_buffer) error = {};
  }
}

/// What was not expected ends a request, never the service.
ServerResponse made_safely(const ServerState& state, const std::function<ServerResponse()>& make) {
  try {
    return make();
  } catch (const std::exception& error) {
    if (state.mistaken) state.mistaken(error.what());
    return state.refuse(500, "something went wrong here, and its operator was told what");
  }
}

template <typename Stream>
awaitable<void> say_continue(Stream& stream, error_code& error) {
  http::response<http::empty_body> message(http::status::continue_, 11);
  co_await http::async_write(stream, message, asio::redirect_error(asio::use_awaitable, error));
}

/// The rest of a request behind its head, and the answer. An error means that the connection is of
/// no use any more.
template <typename Stream>
awaitable<ServerResponse> read_and_answer(Stream& stream, beast::flat_buffer& buffer,
                                          HeadParser& head, Peer peer, StatePtr state,
                                          error_code& error) {
  ServerRequest request = request_of(head.get(), peer);
  if (const auto length = head.content_length()) request.content_length = *length;
  RequestPlan plan{state->limits.body_bytes};
  if (state->plan) plan = state->plan(request);
  if (plan.refusal) {
    if (!head.is_done()) error = http::error::body_limit;  // the body stays unread
    co_return std::move(*plan.refusal);
  }
  request.hold = std::move(plan.hold);
  head.body_limit(plan.body_bytes);
  const auto length = head.content_length();
  if (length && *length > plan.body_bytes) {
    error = http::error::body_limit;
    co_return refused_body(*state, error);
  }
  if (beast::iequals(head.get()[http::field::expect], "100-continue"))
    co_await say_continue(stream, error);
  KeptFile kept;
  if (plan.folder.empty()) {
    if (!error) co_await read_text(stream, buffer, head, request, error);
  } else {
    const auto made = make_body_file(plan.folder);
    if (!made) {
      error = http::error::body_limit;  // the body stays unread
      co_return state->refuse(507, made.error().message);
    }
    kept.path = request.body_file = *made;
    if (!error) co_await read_file(stream, buffer, head, request, error, state, plan.take);
  }
  if (error) co_return refused_body(*state, error);
  kept.path.clear();
  co_return made_safely(*state, [&] { return state->handler(request); });
}

/// The body of answer_later's thread; a parameter of a coroutine lives as long as it does.
awaitable<ServerResponse> made_by(StatePtr state, std::function<ServerResponse()> make) {
  co_return made_safely(*state, make);
}

/// Makes an answer that takes its time while others are served.
awaitable<ServerResponse> answer_later(StatePtr state, std::function<ServerResponse()> later) {
  auto made = asio::co_spawn(ServerState::started(state->workers), made_by(state, std::move(later)),
                             asio::use_awaitable);
  auto response = co_await std::move(made);
  co_return response;
}

/// The content of a file; each piece that goes may take as long as `patience`. Whether the
/// connection is of use afterwards.
template <typename Stream>
awaitable<bool> send_file(Stream& stream, const ServerResponse& response, bool keep,
                          StatePtr state) {
  http::response<http::file_body> message;
  message.result(static_cast<unsigned>(response.status));
  message.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : response.headers) message.set(name, value);
  message.keep_alive(keep);
  error_code error;
  message.body().open(response.file.c_str(), beast::file_mode::scan, error);
  if (error) co_return false;
  message.prepare_payload();
  http::response_serializer<http::file_body> serializer(message);
  while (!error && !serializer.is_done()) {
    stream.expires_after(state->limits.patience);
    co_await http::async_write_some(stream, serializer,
                                    asio::redirect_error(asio::use_awaitable, error));
  }
  co_return keep && !error;
}

/// A client that still sends would otherwise be cut off before it reads why it was refused.
template <typename Stream>
awaitable<void> leave_politely(Stream& stream) {
  constexpr size_t kMostBytes = 16U << 20U;
  constexpr auto kPatience = Milliseconds(2000);
  error_code error;
  stream.socket().shutdown(asio::socket_base::shutdown_send, error);
  std::vector<char> dropped(1U << 16U);
  size_t bytes = 0;
  stream.expires_after(kPatience);
  while (!error && bytes < kMostBytes) {
    bytes += co_await stream.async_read_some(asio::buffer(dropped),
                                             asio::redirect_error(asio::use_awaitable, error));
  }
}

/// One request and its answer; false when the connection is not to be used again.
template <typename Stream>
awaitable<bool> serve_one(Stream& stream, beast::flat_buffer& buffer, Peer peer, StatePtr state) {
  error_code error;
  HeadParser head;
  head.header_limit(static_cast<std::uint32_t>(state->limits.header_bytes));
  head.body_limit(boost::none);
  stream.expires_after(state->limits.patience);
  co_await http::async_read_header(stream, buffer, head,
                                   asio::redirect_error(asio::use_awaitable, error));
  const bool only_head = head.get().method() == http::verb::head;
  bool keep = !error && head.get().keep_alive();
  ServerResponse response;
  if (error == http::error::header_limit) {
    response = state->refuse(431, "the request's header is too large");
  } else if (is_broken(error)) {
    response = refused_body(*state, error);
  } else if (error) {
    co_return false;
  } else {
    response = co_await read_and_answer(stream, buffer, head, peer, state, error);
    if (is_lost(error)) co_return false;
    keep = keep && !error;
  }
  const bool unread = static_cast<bool>(error);
  if (response.later) {
    auto later = std::exchange(response.later, nullptr);
    response = co_await answer_later(state, std::move(later));
  }
  if (!response.file.empty() && !only_head)
    co_return co_await send_file(stream, response, keep, state);
  auto message = message_of(response, keep);
  if (only_head) message.body().clear();
  error = {};
  stream.expires_after(state->limits.patience);
  co_await http::async_write(stream, message, asio::redirect_error(asio::use_awaitable, error));
  if (error && error != http::error::end_of_stream) co_return false;
  if (response.next && !only_head) co_await send_pieces(stream, response, state);
  if (unread) co_await leave_politely(stream);
  co_return keep && !response.next;
}

template <typename Socket>
awaitable<void> serve_client(Socket socket, StatePtr state) {
  const Peer peer = peer_of(socket);
  const Counted counted(*state, caller_of(peer.address));
  beast::basic_stream<typename Socket::protocol_type> stream(std::move(socket));
  if (counted.is_too_many()) {
    ServerResponse busy = state->refuse(503, "too many clients; come again later");
    auto message = message_of(busy, false);
    error_code error;
    stream.expires_after(state->limits.patience);
    co_await http::async_write(stream, message, asio::redirect_error(asio::use_awaitable, error));
    co_return;
  }
  beast::flat_buffer buffer;
  while (!state->ended && co_await serve_one(stream, buffer, peer, state)) {
  }
}

/// Out of descriptors, for example: waits a moment instead of spinning.
awaitable<void> pause(asio::io_context& loop) {
  asio::steady_timer timer(loop, std::chrono::milliseconds(100));
  error_code error;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
}

template <typename Acceptor>
awaitable<void> accept_clients(std::shared_ptr<Acceptor> acceptor, StatePtr state) {
  while (!state->ended) {
    error_code error;
    auto socket = co_await acceptor->async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (state->ended || error == asio::error::operation_aborted) co_return;
    if (error) {
      co_await pause(state->loop);
      continue;
    }
    asio::co_spawn(state->loop, serve_client(std::move(socket), state), asio::detached);
  }
}

template <typename Protocol>
Result<typename Protocol::endpoint> open_at(const StatePtr& state,
                                            const typename Protocol::endpoint& place,
                                            const std::string& shown) {
  auto acceptor = std::make_shared<asio::basic_socket_acceptor<Protocol>>(state->loop);
  error_code error;
  acceptor->open(place.protocol(), error);
  if (!error) acceptor->set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor->bind(place, error);
  if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return refused(
        fmt::format("cannot listen at {}: {}; choose another address", shown, error.message()));
  }
  state->closers.push_back([acceptor] {
    error_code ignored;
    acceptor->close(ignored);
  });
  const auto bound = acceptor->local_endpoint(error);
  asio::co_spawn(state->loop, accept_clients(std::move(acceptor), state), asio::detached);
  return bound;
}

Result<asio::ip::tcp::endpoint> parse_address(const std::string& text) {
  const size_t colon = text.rfind(':');
  constexpr uint64_t kNone = UINT64_MAX;
  const uint64_t port = colon == text.npos
                            ? kNone
                            : parse_uint(std::string_view(text).substr(colon + 1)).value_or(kNone);
  std::string host = text.substr(0, colon == text.npos ? 0 : colon);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  if (host == "localhost") host = "127.0.0.1";
  error_code error;
  const auto address = host.empty() ? asio::ip::address(asio::ip::address_v6::any())
                                    : asio::ip::make_address(host, error);
  if (error || port > UINT16_MAX) {
    return bad_input(fmt::format(
        "'{}' is no address to listen at; write it as 127.0.0.1:9410, [::1]:9410 or :9410", text));
  }
  return asio::ip::tcp::endpoint(address, static_cast<uint16_t>(port));
}

/// Whether somebody answers there.
bool is_in_use(const std::filesystem::path& path) {
  asio::io_context loop;
  asio::local::stream_protocol::socket socket(loop);
  error_code error;
  socket.connect(asio::local::stream_protocol::endpoint(path.native()), error);
  return !error;
}

}  // namespace

Result<void> check_address(const std::string& address) {
  ASSAY_CHECK(parse_address(address));
  return {};
}

HttpServer::HttpServer(asio::io_context& loop, Handler handler, ServerLimits limits)
    : state_(std::make_shared<ServerState>(
          ServerState{.loop = loop, .handler = std::move(handler), .limits = limits})) {}

void HttpServer::plan_requests(std::function<RequestPlan(const ServerRequest&)> plan) {
  state_->plan = std::move(plan);
}

void HttpServer::refuse_by(Refuse refuse) {
  state_->refuse = std::move(refuse);
}

void HttpServer::tell_mistakes(std::function<void(const std::string&)> tell) {
  state_->mistaken = std::move(tell);
}

HttpServer::~HttpServer() {
  state_->ended = true;
  for (const auto& close : state_->closers) close();
  for (auto* pool : {&state_->workers, &state_->disks}) {
    if (!*pool) continue;
    (*pool)->stop();  // what waits is dropped, what is being made is awaited
    (*pool)->join();
    pool->reset();  // what was dropped may hold the state that holds it
  }
}

Result<int> HttpServer::listen(const std::string& address) {
  ASSAY_TRY(const auto endpoint, parse_address(address));
  ASSAY_TRY(const auto bound, open_at<asio::ip::tcp>(state_, endpoint, address));
  return bound.port();
}

Result<void> HttpServer::listen(const std::filesystem::path& unix_socket) {
  using Local = asio::local::stream_protocol;
  sockaddr_un form{};
  if (unix_socket.native().size() >= sizeof form.sun_path)
    return bad_input(fmt::format("the path {} is too long for a socket", unix_socket.native()));
  const auto kind = std::filesystem::symlink_status(unix_socket).type();
  if (kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::socket)
    return refused(fmt::format("{} exists and is not a socket; remove it or choose another path",
                               unix_socket.native()));
  if (is_in_use(unix_socket))
    return refused(fmt::format("somebody else listens at {} already", unix_socket.native()));
  ::unlink(unix_socket.c_str());
  ASSAY_CHECK(open_at<Local>(state_, Local::endpoint(unix_socket.native()), unix_socket.native()));
  ::chmod(unix_socket.c_str(), 0666);
  return {};
}

size_t HttpServer::clients() const {
  return state_->clients;
}

}  // namespace assay::net
