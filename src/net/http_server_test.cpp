// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <fmt/format.h>
#include <mutex>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <assay/base/files.h>
#include <assay/net/http_client.h>
#include <assay/net/http_server.h>
#include <gtest/gtest.h>

namespace assay::net {
namespace {

/// A server on a loop in a thread of its own, which answers with what it was asked.
class Served {
 public:
  explicit Served(ServerLimits limits = {})
      : server_(std::make_unique<HttpServer>(
            loop_, [](const ServerRequest& request) { return answer(request); }, limits)) {
    server_->plan_requests([limits](const ServerRequest& head) -> RequestPlan {
      if (head.path == "/forbidden") return {.refusal = refusal(403, "not for you")};
      if (head.path != "/file") return {limits.body_bytes};
      return {.body_bytes = 1U << 20U,
              .folder = std::filesystem::temp_directory_path(),
              .take = [is_full = head.query == "full"](size_t) { return !is_full; }};
    });
    server_->tell_mistakes([this](const std::string& words) {
      const std::lock_guard lock(mutex_);
      mistakes_ = words;
    });
    port_ = server_->listen(std::string("127.0.0.1:0")).value_or(0);
    const auto at_unix = server_->listen(socket_);
    EXPECT_TRUE(at_unix) << at_unix.error().message;
    thread_ = std::thread([this] { loop_.run(); });
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() {
    loop_.stop();
    thread_.join();
    server_.reset();
    std::filesystem::remove(socket_);
  }

  HttpClient over_tcp() const {
    return HttpClient({.base = fmt::format("http://127.0.0.1:{}", port_)});
  }
  HttpClient over_unix() const { return HttpClient({.unix_socket = socket_}); }
  const std::filesystem::path& socket() const { return socket_; }
  int port() const { return port_; }
  /// The last one; told once.
  std::string mistakes() const {
    const std::lock_guard lock(mutex_);
    return std::exchange(mistakes_, "");
  }

 private:
  static ServerResponse answer(const ServerRequest& request) {
    ServerResponse response;
    response.headers.emplace_back("X-Origin", fmt::to_string(static_cast<int>(request.origin)));
    if (request.user) response.headers.emplace_back("X-User", fmt::to_string(*request.user));
    response.headers.emplace_back("X-Host", request.host);
    response.headers.emplace_back("X-Page", request.page);
    response.body = fmt::format("{} {} {} {}", request.method, request.path,
                                request.parameter("name"), request.body);
    if (request.path == "/stream") {
      response.body = "first\n";
      response.interval = Milliseconds(1);
      response.next = [] { return std::string("more\n"); };
    }
    if (request.path == "/gone") response.status = 404;
    if (request.path == "/thrown") throw std::runtime_error("a handler's mistake");
    if (request.path == "/thrown_later")
      response.later = []() -> ServerResponse { throw std::runtime_error("a later mistake"); };
    if (request.path == "/content") response.file = request.parameter("name");
    if (request.path == "/later")
      response.later = [thread = std::this_thread::get_id()] {
        ServerResponse later;
        later.body = std::this_thread::get_id() == thread ? "here" : "elsewhere";
        return later;
      };
    if (request.path == "/file") {
      response.body =
          fmt::format("{} bytes of {}", file_size(request.body_file), request.content_type);
      if (request.parameter("echo") == "1") response.body = read_file(request.body_file).value();
      std::filesystem::remove(request.body_file);
    }
    return response;
  }

  mutable std::mutex mutex_;
  mutable std::string mistakes_;
  boost::asio::io_context loop_;
  std::filesystem::path socket_ =
      std::filesystem::temp_directory_path() / fmt::format("assay-http-{}.sock", ::getpid());
  std::unique_ptr<HttpServer> server_;
  int port_ = 0;
  std::thread thread_;
};

Request get(std::string path) {
  Request request;
  request.path = std::move(path);
  return request;
}

TEST(HttpServer, answers_over_tcp_and_knows_that_it_is_this_machine) {
  const Served served;
  auto client = served.over_tcp();
  const auto response = client.send(get("/hello?a=1&name=two%20words"));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "GET /hello two words ");
  EXPECT_EQ(response->header("x-origin"), "1");
}

TEST(HttpServer, answers_over_a_unix_socket_and_takes_bodies) {
  const Served served;
  auto client = served.over_unix();
  Request post = get("/set");
  post.method = "POST";
  post.body = "value";
  const auto response = client.send(post);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "POST /set  value");
  EXPECT_EQ(response->header("x-origin"), "0");
}

TEST(HttpServer, tells_who_calls_and_whom_the_caller_believes_to_talk_to) {
  const Served served;
  auto over_unix = served.over_unix();
  const auto local = over_unix.send(get("/hello"));
  ASSERT_TRUE(local);
  EXPECT_EQ(local->header("x-user"), fmt::to_string(::getuid()));
  auto over_tcp = served.over_tcp();
  Request request = get("/hello");
  request.headers = {"Host: evil.example", "Origin: http://evil.example"};
  const auto remote = over_tcp.send(request);
  ASSERT_TRUE(remote);
  EXPECT_EQ(remote->header("x-user"), "");
  EXPECT_EQ(remote->header("x-host"), "evil.example");
  EXPECT_EQ(remote->header("x-page"), "http://evil.example");
}

TEST(HttpServer, this_machine_is_known_behind_a_mapped_address_too) {
  boost::asio::io_context loop;
  Origin origin = Origin::network;
  HttpServer server(loop, [&](const ServerRequest& request) {
    origin = request.origin;
    return ServerResponse();
  });
  const auto port = server.listen(std::string("[::ffff:127.0.0.1]:0"));
  if (!port) GTEST_SKIP() << "no IPv6 here: " << port.error().message;
  std::thread thread([&] { loop.run(); });
  HttpClient client({.base = fmt::format("http://127.0.0.1:{}", *port)});
  EXPECT_TRUE(client.send(get("/")));
  loop.stop();
  thread.join();
  EXPECT_EQ(origin, Origin::loopback);
}

TEST(HttpServer, one_connection_serves_many_requests) {
  const Served served;
  auto client = served.over_tcp();
  for (int i = 0; i < 50; ++i) {
    const auto response = client.send(get(i % 2 == 0 ? "/here" : "/gone"));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, i % 2 == 0 ? 200 : 404);
  }
}

TEST(HttpServer, a_head_has_no_body) {
  const Served served;
  auto client = served.over_tcp();
  Request head = get("/hello");
  head.method = "HEAD";
  const auto response = client.send(head);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "");
}

TEST(HttpServer, streams_until_the_client_leaves) {
  const Served served;
  auto client = served.over_unix();
  std::string text;
  const auto response = client.stream(get("/stream"), [&](std::string_view piece) {
    text += piece;
    return text.size() < 30;
  });
  ASSERT_TRUE(response);
  EXPECT_TRUE(text.starts_with("first\nmore\nmore\n")) << text;
}

TEST(HttpServer, refuses_what_is_too_large) {
  const Served served({.body_bytes = 100});
  auto client = served.over_tcp();
  Request post = get("/set");
  post.method = "POST";
  post.body = std::string(101, 'x');
  const auto response = client.send(post);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 413);
  EXPECT_EQ(response->body, "{\"error\": \"the request is too large\"}\n");
}

TEST(HttpServer, too_many_clients_are_told_so) {
  const Served served({.clients = 1});
  auto first = served.over_tcp();
  std::atomic<int> second_status = 0;
  const auto response = first.stream(get("/stream"), [&](std::string_view) {
    auto second = served.over_tcp();
    second_status = second.send(get("/hello")).value_or(Response()).status;
    return false;
  });
  ASSERT_TRUE(response);
  EXPECT_EQ(second_status, 503);
}

/// The first line of what a caller with that address is answered.
std::string answer_to(const std::string& address, int port) {
  boost::asio::io_context loop;
  boost::asio::ip::tcp::socket socket(loop);
  socket.open(boost::asio::ip::tcp::v4());
  socket.bind({boost::asio::ip::make_address(address), 0});
  socket.connect({boost::asio::ip::make_address("127.0.0.1"), static_cast<uint16_t>(port)});
  boost::asio::write(socket, boost::asio::buffer(std::string("GET /hello HTTP/1.1\r\n\r\n")));
  std::string text;
  boost::asio::read_until(socket, boost::asio::dynamic_buffer(text), "\r\n");
  return text.substr(0, text.find("\r\n"));
}

TEST(HttpServer, one_caller_may_not_take_all_connections) {
  const Served served({.clients = 8, .clients_of_caller = 1});
  auto first = served.over_tcp();
  std::string same;
  std::string other;
  const auto response = first.stream(get("/stream"), [&](std::string_view) {
    same = answer_to("127.0.0.1", served.port());
    other = answer_to("127.0.0.2", served.port());
    return false;
  });
  ASSERT_TRUE(response);
  EXPECT_EQ(same, "HTTP/1.1 503 Service Unavailable");
  EXPECT_EQ(other, "HTTP/1.1 200 OK");
}

TEST(HttpServer, a_caller_is_an_address_or_the_network_of_an_address) {
  EXPECT_EQ(caller_of("10.0.0.7"), "10.0.0.7");
  EXPECT_EQ(caller_of("::ffff:10.0.0.7"), "10.0.0.7");
  EXPECT_EQ(caller_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
  EXPECT_EQ(caller_of("2001:db8:1:2::1"), caller_of("2001:db8:1:2:ffff::9"));
  EXPECT_NE(caller_of("2001:db8:1:2::1"), caller_of("2001:db8:1:3::1"));
  EXPECT_EQ(caller_of(""), "");
}

TEST(HttpServer, garbage_is_told_so_and_ends_nothing_but_its_connection) {
  const Served served;
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  served.socket().native().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const std::string garbage = "\x01\x02 nonsense\r\n\r\n";
  ASSERT_EQ(::write(fd, garbage.data(), garbage.size()), static_cast<ssize_t>(garbage.size()));
  std::string answer;
  std::array<char, 256> buffer{};
  for (ssize_t count = 0; (count = ::read(fd, buffer.data(), buffer.size())) > 0;)
    answer.append(buffer.data(), static_cast<size_t>(count));
  ::close(fd);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
  EXPECT_NE(answer.find("{\"error\": \"the request is broken: "), answer.npos) << answer;
  auto client = served.over_unix();
  EXPECT_TRUE(client.send(get("/hello")));
}

TEST(HttpServer, addresses_that_are_none_and_sockets_in_use_are_refused) {
  const Served served;
  boost::asio::io_context loop;
  HttpServer second(loop, [](const ServerRequest&) { return ServerResponse(); });
  for (const char* text : {"", "nowhere", "127.0.0.1", "127.0.0.1:99999", "host name:1"}) {
    const auto port = second.listen(std::string(text));
    ASSERT_FALSE(port) << text;
    EXPECT_EQ(port.error().kind, ErrorKind::input) << text;
  }
  const auto taken = second.listen(served.socket());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, ErrorKind::environment);
}

TEST(Refusal, is_json_whatever_the_sentence) {
  EXPECT_EQ(refusal(404, "no \"x\\y\"\n").body, "{\"error\": \"no \\\"x\\\\y\\\" \"}\n");
}

TEST(QueryDecoded, takes_any_text) {
  EXPECT_EQ(query_decoded("a%20b+c"), "a b c");
  EXPECT_EQ(query_decoded("100%"), "100%");
  EXPECT_EQ(query_decoded("%zz%4"), "%zz%4");
}

TEST(HttpServer, large_bodies_go_to_a_file) {
  const Served served;
  auto client = served.over_tcp();
  Request request{.method = "POST", .path = "/file", .headers = {"Content-Type: a/b"}, .body = ""};
  request.body.assign(1U << 20U, 'x');
  const auto response = client.send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "1048576 bytes of a/b");
}

TEST(HttpServer, a_body_without_room_is_refused) {
  const Served served;
  auto client = served.over_tcp();
  const auto response = client.send(
      {.method = "POST", .path = "/file?full", .headers = {}, .body = std::string(600'000, 'x')});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 503);
}

TEST(HttpServer, a_handler_that_throws_is_an_answer_too) {
  const Served served;
  auto client = served.over_tcp();
  for (const char* target : {"/thrown", "/thrown_later"}) {
    const auto response = client.send(get(target));
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 500);
    EXPECT_EQ(response->body.find("mistake"), std::string::npos) << "that is the operator's";
    EXPECT_NE(served.mistakes().find("mistake"), std::string::npos);
  }
  EXPECT_EQ(client.send(get("/hello"))->status, 200);
}

TEST(HttpServer, files_have_every_byte_of_their_bodies) {
  const Served served;
  auto client = served.over_tcp();
  Request request{.method = "POST", .path = "/file?echo=1", .headers = {}, .body = ""};
  constexpr size_t kPiece = 256U << 10U;
  for (const size_t size : {size_t{1}, kPiece - 1, kPiece, kPiece + 1, 3 * kPiece + 7}) {
    for (const bool chunked : {false, true}) {
      request.headers = chunked ? std::vector<std::string>{"Transfer-Encoding: chunked"}
                                : std::vector<std::string>{};
      request.body.resize(size);
      for (size_t i = 0; i < size; ++i) request.body[i] = static_cast<char>('a' + i * i % 23);
      const auto response = client.send(request);
      ASSERT_TRUE(response) << response.error().message;
      EXPECT_TRUE(response->body == request.body) << size;
    }
  }
}

TEST(HttpServer, bodies_too_large_to_be_held_go_from_file_to_file) {
  const Served served;
  HttpClient client = served.over_tcp();
  Request up;
  up.method = "PUT";
  up.path = "/file";
  up.body_size = 300'000;
  size_t sent = 0;
  up.read_body = [&](char* to, size_t most) {
    const size_t size = std::min(most, 300'000 - sent);
    std::fill_n(to, size, 'x');
    sent += size;
    return size;
  };
  auto response = client.send(up);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "300000 bytes of ");
  Request down;
  down.path = "/content?name=" + std::string(ASSAY_SOURCE_DIR) + "/LICENSE";
  response = client.send(down);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, read_file(std::string(ASSAY_SOURCE_DIR) + "/LICENSE").value());
  up.read_body = [](char*, size_t) { return size_t{0}; };
  EXPECT_FALSE(client.send(up)) << "its body ends too early";
}

TEST(HttpServer, a_body_over_its_plan_is_refused_before_it_is_read) {
  const Served served;
  auto client = served.over_tcp();
  Request request{.method = "POST", .path = "/file", .headers = {}, .body = ""};
  request.body.assign((1U << 20U) + 1, 'x');
  const auto response = client.send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 413);
}

TEST(HttpServer, who_may_not_ask_is_told_by_its_head_alone) {
  const Served served;
  auto client = served.over_tcp();
  Request request{.method = "POST", .path = "/forbidden", .headers = {}, .body = ""};
  for (const size_t bytes : {0U, 5U, 10U << 20U}) {
    request.body.assign(bytes, 'x');
    const auto response = client.send(request);
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->status, 403);
  }
}

TEST(HttpServer, answers_that_take_their_time_are_made_in_another_thread) {
  const Served served;
  auto client = served.over_tcp();
  const auto response = client.send(get("/later"));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "elsewhere");
}

}  // namespace
}  // namespace assay::net
