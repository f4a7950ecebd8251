// SPDX-License-Identifier: Apache-2.0
#include "testing/http_server.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

#include <assay/net/http_client.h>
#include <gtest/gtest.h>

namespace assay::net {
namespace {

using testing::Connection;
using testing::HttpServer;

/// Two authorities, a server's and a client's certificate, made for this test.
class Tls : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    char name[] = "/tmp/assay-tls-XXXXXX";
    folder = ::mkdtemp(name);
    make_authority("ca");
    make_authority("other");
    make_certificate("server", "IP:127.0.0.1");
    make_certificate("client", "DNS:client");
    make_certificate("stranger", "DNS:client", "other");
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder); }

  static std::filesystem::path file(const std::string& name) { return folder / name; }

  static std::unique_ptr<HttpServer> serve(const std::filesystem::path& client_ca = {},
                                           const std::string& headers = "",
                                           const std::string& status = "200 OK") {
    const std::string bytes =
        fmt::format("HTTP/1.1 {}\r\n{}Content-Length: 5\r\n\r\nhello", status, headers);
    return HttpServer::on_loopback_tls({file("server.pem"), file("server.key"), client_ca},
                                       [bytes](Connection& connection) {
                                         while (!connection.read_request().empty())
                                           connection.write(bytes);
                                       });
  }
  static Result<Response> ask(const Endpoint& endpoint, int redirects = 0) {
    Request request;
    request.path = "/x";
    request.redirects = redirects;
    return HttpClient(endpoint).send(request);
  }

 private:
  static void run(const std::string& arguments) {
    const std::string command =
        fmt::format("cd {} && openssl {} >log 2>&1", folder.native(), arguments);
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  static void make_authority(const std::string& name) {
    run(
        fmt::format("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
                    "-subj /CN={0} -keyout {0}.key -out {0}.pem",
                    name));
  }
  static void make_certificate(const std::string& name, const std::string& alternative,
                               const std::string& authority = "ca") {
    run(
        fmt::format("req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN={0} "
                    "-addext subjectAltName={1} -keyout {0}.key -out {0}.csr",
                    name, alternative));
    run(
        fmt::format("x509 -req -in {0}.csr -CA {1}.pem -CAkey {1}.key -CAcreateserial -days 2 "
                    "-copy_extensions copy -out {0}.pem",
                    name, authority));
  }

  static inline std::filesystem::path folder;
};

TEST_F(Tls, KnownAuthorityIsTrusted) {
  const auto server = serve();
  const auto response = ask({.base = server->base(), .ca_file = file("ca.pem")});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "hello");
}

TEST_F(Tls, AuthorityMayComeFromTheEnvironment) {
  const auto server = serve();
  ::setenv("SSL_CERT_FILE", file("ca.pem").c_str(), 1);
  const auto response = ask({.base = server->base()});
  ::unsetenv("SSL_CERT_FILE");
  ASSERT_TRUE(response) << response.error().message;
}

TEST_F(Tls, OtherAuthorityIsRefused) {
  const auto server = serve();
  for (const auto& ca : {file("other.pem"), std::filesystem::path()}) {
    const auto response = ask({.base = server->base(), .ca_file = ca});
    ASSERT_FALSE(response);
    EXPECT_FALSE(response.error().temporary);
    EXPECT_NE(response.error().message.find("cannot trust " + server->base() + "/x"),
              std::string::npos)
        << response.error().message;
  }
}

TEST_F(Tls, CertificateOfAnotherHostIsRefused) {
  const auto server = serve();
  const auto response =
      ask({.base = fmt::format("https://localhost:{}", server->port()), .ca_file = file("ca.pem")});
  ASSERT_FALSE(response);
  EXPECT_NE(response.error().message.find("cannot trust"), std::string::npos);
}

TEST_F(Tls, ClientCertificateOpensTheDoor) {
  const auto server = serve(file("ca.pem"));
  const auto response = ask({.base = server->base(),
                             .ca_file = file("ca.pem"),
                             .certificate_file = file("client.pem"),
                             .key_file = file("client.key")});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "hello");
  EXPECT_FALSE(ask({.base = server->base(), .ca_file = file("ca.pem")}));
}

TEST_F(Tls, RefusedClientCertificateIsNamedAsTheTrouble) {
  const auto server = serve(file("ca.pem"));
  const auto response = ask({.base = server->base(),
                             .ca_file = file("ca.pem"),
                             .certificate_file = file("stranger.pem"),
                             .key_file = file("stranger.key")});
  ASSERT_FALSE(response);
  EXPECT_NE(response.error().message.find("check that it accepts the client's certificate"),
            std::string::npos)
      << response.error().message;
}

TEST_F(Tls, MissingFilesAreNamedAsTheTrouble) {
  const auto server = serve();
  const auto no_ca = ask({.base = server->base(), .ca_file = file("none.pem")});
  ASSERT_FALSE(no_ca);
  EXPECT_NE(no_ca.error().message.find("cannot read the authority's certificate"),
            std::string::npos)
      << no_ca.error().message;
  const auto no_key = ask({.base = server->base(),
                           .ca_file = file("ca.pem"),
                           .certificate_file = file("client.pem"),
                           .key_file = file("none.key")});
  ASSERT_FALSE(no_key);
  EXPECT_NE(no_key.error().message.find("cannot use the client's certificate"), std::string::npos)
      << no_key.error().message;
}

TEST_F(Tls, RedirectToPlainHttpIsRefused) {
  const auto plain = HttpServer::on_loopback([](Connection& connection) {
    connection.read_request();
    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  const auto server = serve({}, fmt::format("Location: {}/y\r\n", plain->base()), "302 Found");
  const auto response = ask({.base = server->base(), .ca_file = file("ca.pem")}, 3);
  ASSERT_FALSE(response);
  EXPECT_EQ(plain->connections(), 0);
}

TEST_F(Tls, PlainServerIsNoSecureOne) {
  const auto plain = HttpServer::on_loopback([](Connection& connection) {
    connection.read_some();
    connection.write("HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  const auto response = ask({.base = fmt::format("https://127.0.0.1:{}", plain->port())});
  ASSERT_FALSE(response);
  EXPECT_NE(response.error().message.find("no secure connection"), std::string::npos)
      << response.error().message;
}

}  // namespace
}  // namespace assay::net
