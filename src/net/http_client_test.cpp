// SPDX-License-Identifier: Apache-2.0
#include "testing/http_server.h"

#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <future>
#include <thread>

#include <assay/net/http_client.h>
#include <gtest/gtest.h>

namespace assay::net {
namespace {

using testing::Connection;
using testing::HttpServer;

std::string answer(std::string_view status, std::string_view body, std::string_view headers = "") {
  return fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n{}\r\n{}", status, body.size(), headers,
                     body);
}

/// Answers every request of a connection with the same bytes.
HttpServer::Handler always(std::string bytes) {
  return [bytes = std::move(bytes)](Connection& connection) {
    while (!connection.read_request().empty()) connection.write(bytes);
  };
}

/// Answers one request and closes the connection.
HttpServer::Handler once(std::string bytes) {
  return [bytes = std::move(bytes)](Connection& connection) {
    connection.read_request();
    connection.write(bytes);
  };
}

/// Begins an answer and then says nothing more.
HttpServer::Handler begin_and_wait(std::string bytes) {
  return [bytes = std::move(bytes)](Connection& connection) {
    connection.read_request();
    connection.write(bytes);
    connection.wait_closed();
  };
}

HttpClient client_of(const HttpServer& server) {
  return HttpClient(Endpoint{.base = server.base()});
}

Request get(std::string path) {
  Request request;
  request.path = std::move(path);
  return request;
}

struct Streamed {
  Result<Response> response;
  std::string body;
};

Streamed stream_all(HttpClient& client, const Request& request) {
  Streamed streamed{refused("not asked"), ""};
  streamed.response = client.stream(request, [&](std::string_view piece) {
    streamed.body += piece;
    return true;
  });
  return streamed;
}

class TempFolder {
 public:
  TempFolder() : path_(::mkdtemp(name_)) {}
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  char name_[24] = "/tmp/assay-net-XXXXXX";
  std::filesystem::path path_;
};

TEST(HttpClient, GivesStatusHeadersAndBody) {
  const auto server = HttpServer::on_loopback(
      always(answer("404 Not Found", "gone", "X-One: a\r\nx-one:  b \r\nETag: \"e\"\r\n")));
  auto client = client_of(*server);
  const auto response = client.send(get("/x"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 404);
  EXPECT_FALSE(response->ok());
  EXPECT_EQ(response->body, "gone");
  EXPECT_EQ(response->header("x-one"), "a, b");
  EXPECT_EQ(response->header("etag"), "\"e\"");
  EXPECT_EQ(response->header("none"), "");
}

TEST(HttpClient, SendsMethodPathHeadersAndBodyAndNothingUnasked) {
  std::string seen;
  const auto server = HttpServer::on_loopback([&](Connection& connection) {
    seen = connection.read_request();
    connection.write(answer("201 Created", ""));
  });
  auto client = client_of(*server);
  Request request = get("/v1/../x?a=%20");
  request.method = "POST";
  request.headers = {"Content-Type: application/json"};
  request.body = R"({"a": 1})";
  const auto response = client.send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(seen,
            fmt::format("POST /v1/../x?a=%20 HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAccept: */*\r\n"
                        "Content-Type: application/json\r\nContent-Length: 8\r\n\r\n{{\"a\": 1}}",
                        server->port()));
}

TEST(HttpClient, SendsAnEmptyPostAndADelete) {
  std::vector<std::string> seen;
  const auto server = HttpServer::on_loopback([&](Connection& connection) {
    for (int i = 0; i < 2; ++i) {
      seen.push_back(connection.read_request());
      connection.write("HTTP/1.1 204 No Content\r\n\r\n");
    }
  });
  auto client = client_of(*server);
  Request request = get("/x");
  for (const auto* method : {"POST", "DELETE"}) {
    request.method = method;
    ASSERT_TRUE(client.send(request));
  }
  EXPECT_NE(seen[0].find("POST /x"), std::string::npos);
  EXPECT_NE(seen[0].find("Content-Length: 0\r\n"), std::string::npos);
  EXPECT_NE(seen[1].find("DELETE /x"), std::string::npos);
}

TEST(HttpClient, HeadHasLengthButNoBody) {
  const auto server =
      HttpServer::on_loopback(always("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"));
  auto client = client_of(*server);
  Request request = get("/x");
  request.method = "HEAD";
  const auto response = client.send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->header("content-length"), "7");
}

TEST(HttpClient, KeepsItsConnection) {
  const auto server = HttpServer::on_loopback(always(answer("200 OK", "x")));
  auto client = client_of(*server);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(client.send(get("/x")));
  EXPECT_EQ(server->connections(), 1);
}

TEST(HttpClient, ComesBackAfterTheServerClosedTheKeptConnection) {
  const auto server = HttpServer::on_loopback(once(answer("200 OK", "x")));
  auto client = client_of(*server);
  for (int i = 0; i < 3; ++i) {
    const auto response = client.send(get("/x"));
    ASSERT_TRUE(response) << response.error().message;
  }
  EXPECT_EQ(server->connections(), 3);
}

TEST(HttpClient, SpeaksOverAUnixSocket) {
  const TempFolder folder;
  const auto socket = folder.path() / "s";
  const auto server = HttpServer::on_unix_socket(socket, always(answer("200 OK", "hello")));
  HttpClient client(Endpoint{.unix_socket = socket});
  const auto response = client.send(get("/x"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "hello");
}

TEST(HttpClient, TellsAMissingSocketFromADeadOne) {
  const TempFolder folder;
  const auto socket = folder.path() / "s";
  HttpClient client(Endpoint{.unix_socket = socket});
  const auto missing = client.send(get("/x?token=dummy"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(client.os_error(), ENOENT);
  EXPECT_FALSE(missing.error().temporary);
  EXPECT_NE(missing.error().message.find(socket.native() + ": "), std::string::npos);
  EXPECT_EQ(missing.error().message.find("dummy"), std::string::npos);

  HttpServer::on_unix_socket(socket, always("")).reset();
  const auto dead = client.send(get("/x"));
  ASSERT_FALSE(dead);
  EXPECT_EQ(client.os_error(), ECONNREFUSED);
  EXPECT_TRUE(dead.error().temporary);
}

TEST(HttpClient, RefusedConnectionSaysWhereAndHidesSecrets) {
  auto server = HttpServer::on_loopback(always(""));
  const int port = server->port();
  server.reset();
  HttpClient client(Endpoint{.base = fmt::format("http://me:dummy@127.0.0.1:{}", port)});
  const auto response = client.send(get("/x?sig=dummy"));
  ASSERT_FALSE(response);
  EXPECT_EQ(client.os_error(), ECONNREFUSED);
  EXPECT_EQ(response.error().kind, ErrorKind::environment);
  const std::string& message = response.error().message;
  EXPECT_EQ(message.find(fmt::format("cannot connect to http://127.0.0.1:{}: ", port)), 0)
      << message << ", whatever was asked for";
  EXPECT_EQ(message.find("dummy"), std::string::npos);
  EXPECT_EQ(message.find(" ms"), std::string::npos) << "the same each time";
}

TEST(HttpClient, OtherSchemesAreRefused) {
  HttpClient client(Endpoint{.base = "file://"});
  EXPECT_FALSE(client.send(get("/etc/hostname")));
}

TEST(HttpClient, BodyOverTheBoundIsAnError) {
  const auto server = HttpServer::on_loopback([](Connection& connection) {
    connection.read_request();
    connection.write("HTTP/1.1 200 OK\r\n\r\n");
    const std::string megabyte(1U << 20U, 'x');
    for (int i = 0; i < 65; ++i) connection.write(megabyte);
  });
  auto client = client_of(*server);
  const auto response = client.send(get("/x"));
  ASSERT_FALSE(response);
  EXPECT_NE(response.error().message.find("larger than"), std::string::npos);
}

TEST(HttpClient, AnswerThatBreaksOffIsATemporaryError) {
  const auto server =
      HttpServer::on_loopback(once("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"));
  auto client = client_of(*server);
  const auto whole = client.send(get("/x"));
  ASSERT_FALSE(whole);
  EXPECT_TRUE(whole.error().temporary);
  const auto streamed = stream_all(client, get("/x"));
  ASSERT_FALSE(streamed.response);
  EXPECT_EQ(streamed.body, "half");
}

TEST(HttpClient, TimeoutBoundsTheWholeAnswer) {
  const auto server =
      HttpServer::on_loopback(begin_and_wait("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"));
  auto client = client_of(*server);
  Request request = get("/x");
  request.timeout = Milliseconds(50);
  const auto response = client.send(request);
  ASSERT_FALSE(response);
  EXPECT_TRUE(response.error().temporary);
  EXPECT_NE(response.error().message.find("in time"), std::string::npos);
}

TEST(HttpClient, SilenceEndsAStreamThatHasNoTimeout) {
  const auto server = HttpServer::on_loopback(begin_and_wait("HTTP/1.1 200 OK\r\n\r\nfirst"));
  auto client = client_of(*server);
  Request request = get("/x");
  request.timeout = Milliseconds(0);
  request.silence = Milliseconds(500);  // the first bytes may take a while under an emulator
  const auto streamed = stream_all(client, request);
  ASSERT_FALSE(streamed.response);
  EXPECT_EQ(streamed.body, "first");
  EXPECT_TRUE(streamed.response.error().temporary);
  EXPECT_NE(streamed.response.error().message.find("nothing came"), std::string::npos);
}

TEST(HttpStream, GivesPiecesAsTheyCome) {
  std::promise<void> first_taken;
  const auto server = HttpServer::on_loopback([&](Connection& connection) {
    connection.read_request();
    connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
    first_taken.get_future().wait();
    connection.write("6\r\nsecond\r\n0\r\n\r\n");
  });
  auto client = client_of(*server);
  std::vector<std::string> pieces;
  const auto response = client.stream(get("/x"), [&](std::string_view piece) {
    if (pieces.empty()) first_taken.set_value();
    pieces.emplace_back(piece);
    return true;
  });
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(pieces, (std::vector<std::string>{"first", "second"}));
}

TEST(HttpStream, WithoutALengthItEndsWithTheConnection) {
  const auto server = HttpServer::on_loopback(once("HTTP/1.1 200 OK\r\n\r\nraw bytes"));
  auto client = client_of(*server);
  const auto streamed = stream_all(client, get("/x"));
  ASSERT_TRUE(streamed.response) << streamed.response.error().message;
  EXPECT_EQ(streamed.body, "raw bytes");
}

TEST(HttpStream, TakesWhatFollowsAnUpgradeAndThenAsksAgain) {
  const auto server = HttpServer::on_loopback([](Connection& connection) {
    const std::string request = connection.read_request();
    if (request.find("Upgrade: tcp") == std::string::npos) {
      connection.write(answer("200 OK", "plain"));
      return;
    }
    connection.write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n");
    connection.write("HTTP/1.1 is no header here\r\n\r\nraw");
  });
  auto client = client_of(*server);
  Request request = get("/attach");
  request.method = "POST";
  request.headers = {"Connection: Upgrade", "Upgrade: tcp"};
  const auto streamed = stream_all(client, request);
  ASSERT_TRUE(streamed.response) << streamed.response.error().message;
  EXPECT_EQ(streamed.response->status, 101);
  EXPECT_EQ(streamed.body, "HTTP/1.1 is no header here\r\n\r\nraw");
  const auto after = client.send(get("/x"));
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->body, "plain");
}

TEST(HttpStream, EndsEarlyWhenItsTakerHasEnough) {
  const auto server = HttpServer::on_loopback(begin_and_wait("HTTP/1.1 200 OK\r\n\r\nfirst"));
  auto client = client_of(*server);
  const auto response = client.stream(get("/x"), [](std::string_view) { return false; });
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
}

TEST(HttpStream, RefusalIsInTheResponseAndNotTaken) {
  const auto server = HttpServer::on_loopback(always(answer("409 Conflict", "not running")));
  auto client = client_of(*server);
  const auto streamed = stream_all(client, get("/x"));
  ASSERT_TRUE(streamed.response);
  EXPECT_EQ(streamed.response->status, 409);
  EXPECT_EQ(streamed.response->body, "not running");
  EXPECT_EQ(streamed.body, "");
}

TEST(HttpStream, TellsTheHeadWhileItIsTaken) {
  const auto server =
      HttpServer::on_loopback(always(answer("206 Partial Content", "x", "ETag: e\r\n")));
  auto client = client_of(*server);
  int status = 0;
  std::string tag;
  ASSERT_TRUE(client.stream(get("/x"), [&](std::string_view) {
    status = client.head().status;
    tag = client.head().header("etag");
    return true;
  }));
  EXPECT_EQ(status, 206);
  EXPECT_EQ(tag, "e");
}

TEST(Stopper, EndsAStreamFromAnotherThread) {
  const auto server = HttpServer::on_loopback(begin_and_wait("HTTP/1.1 200 OK\r\n\r\nfirst"));
  auto client = client_of(*server);
  Request request = get("/x");
  request.timeout = Milliseconds(0);
  Stopper stopper;
  std::promise<void> taken;
  std::jthread other([&] {
    taken.get_future().wait();
    stopper.stop();
  });
  const auto response = client.stream(
      request,
      [&](std::string_view) {
        taken.set_value();
        return true;
      },
      &stopper);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
}

TEST(Stopper, EndsARequestThatIsNotAnswered) {
  std::promise<void> asked;
  const auto server = HttpServer::on_loopback([&](Connection& connection) {
    connection.read_request();
    asked.set_value();
    connection.wait_closed();
  });
  auto client = client_of(*server);
  Request request = get("/x");
  request.timeout = Milliseconds(0);
  Stopper stopper;
  std::jthread other([&] {
    asked.get_future().wait();
    stopper.stop();
  });
  const auto response = client.send(request, &stopper);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 0);
}

TEST(Stopper, StopsWhatBeginsLaterAndLeavesTheClientUsable) {
  const auto server = HttpServer::on_loopback(always(answer("200 OK", "x")));
  auto client = client_of(*server);
  Stopper stopper;
  stopper.stop();
  const auto stopped = client.send(get("/x"), &stopper);
  ASSERT_TRUE(stopped);
  EXPECT_EQ(stopped->status, 0);
  const auto response = client.send(get("/x"));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
}

TEST(StillWanted, EndsARequestThatIsNotAnswered) {
  const auto server = HttpServer::on_loopback(begin_and_wait(""));
  auto client = client_of(*server);
  Request request = get("/x");
  request.timeout = Milliseconds(0);
  int asked = 0;
  request.still_wanted = [&] { return ++asked < 3; };
  const auto response = client.send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 0);
  EXPECT_EQ(asked, 3);
}

TEST(Redirects, AreNotFollowedUnlessAsked) {
  const auto server =
      HttpServer::on_loopback(always(answer("302 Found", "", "Location: /other\r\n")));
  auto client = client_of(*server);
  const auto response = client.send(get("/x"));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 302);
}

TEST(Redirects, CredentialsDoNotGoToAnotherHost) {
  std::string seen;
  const auto other = HttpServer::on_loopback([&](Connection& connection) {
    seen = connection.read_request();
    connection.write(answer("200 OK", "x"));
  });
  const auto server = HttpServer::on_loopback(always(
      answer("302 Found", "", fmt::format("Location: http://localhost:{}/y\r\n", other->port()))));
  HttpClient client(Endpoint{.base = fmt::format("http://me:dummy@127.0.0.1:{}", server->port())});
  Request request = get("/x");
  request.headers = {"Authorization: Bearer dummy", "Range: bytes=1-"};
  request.redirects = 1;
  const auto response = client.send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(seen.find("Authorization"), std::string::npos) << seen;
  EXPECT_NE(seen.find("Range: bytes=1-"), std::string::npos) << seen;
}

TEST(Redirects, EndAfterAsManyAsAllowed) {
  const auto server =
      HttpServer::on_loopback(always(answer("302 Found", "", "Location: /again\r\n")));
  auto client = client_of(*server);
  Request request = get("/x");
  request.redirects = 3;
  const auto response = client.send(request);
  ASSERT_FALSE(response);
  EXPECT_NE(response.error().message.find("redirected too often"), std::string::npos);
}

TEST(Redirects, ToAnotherSchemeAreRefused) {
  const auto server = HttpServer::on_loopback(
      always(answer("302 Found", "", "Location: file:///etc/hostname\r\n")));
  auto client = client_of(*server);
  Request request = get("/x");
  request.redirects = 3;
  EXPECT_FALSE(client.send(request));
}

}  // namespace
}  // namespace assay::net
