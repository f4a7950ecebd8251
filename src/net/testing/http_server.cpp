// SPDX-License-Identifier: Apache-2.0
#include "testing/http_server.h"

#include <arpa/inet.h>
#include <array>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <assay/base/text.h>
#include <gtest/gtest.h>

namespace assay::net::testing {
namespace {

class PlainConnection final : public Connection {
 public:
  explicit PlainConnection(int fd) : fd_(fd) {}

  std::string read_some() override {
    std::array<char, 16384> buffer{};
    const ssize_t n = ::recv(fd_, buffer.data(), buffer.size(), 0);
    return n > 0 ? std::string(buffer.data(), static_cast<size_t>(n)) : "";
  }
  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }

 private:
  int fd_;
};

class TlsConnection final : public Connection {
 public:
  explicit TlsConnection(SSL* ssl) : ssl_(ssl) {}

  std::string read_some() override {
    std::array<char, 16384> buffer{};
    const int n = SSL_read(ssl_, buffer.data(), static_cast<int>(buffer.size()));
    return n > 0 ? std::string(buffer.data(), static_cast<size_t>(n)) : "";
  }
  void write(std::string_view bytes) override {
    if (!bytes.empty()) SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
  }

 private:
  SSL* ssl_;
};

Fd listen_at(int family, const sockaddr* address, socklen_t size) {
  Fd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(fd.get(), address, size), 0) << std::strerror(errno);
  EXPECT_EQ(::listen(fd.get(), 16), 0);
  return fd;
}

Fd listen_on_loopback() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return listen_at(AF_INET, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

/// How long the body is that the head announces.
size_t content_length(std::string_view head) {
  constexpr std::string_view kName = "Content-Length:";
  const size_t at = head.find(kName);
  if (at == head.npos) return 0;
  std::string_view rest = head.substr(at + kName.size());
  return parse_uint(trim(next_field(rest, '\r'))).value_or(0);
}

}  // namespace

struct HttpServer::Tls {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());

  explicit Tls(const TlsFiles& files) {
    EXPECT_EQ(SSL_CTX_use_certificate_file(context, files.certificate.c_str(), SSL_FILETYPE_PEM),
              1);
    EXPECT_EQ(SSL_CTX_use_PrivateKey_file(context, files.key.c_str(), SSL_FILETYPE_PEM), 1);
    if (files.client_ca.empty()) return;
    EXPECT_EQ(SSL_CTX_load_verify_locations(context, files.client_ca.c_str(), nullptr), 1);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;
  ~Tls() { SSL_CTX_free(context); }
};

std::string Connection::read_request() {
  std::string request = std::exchange(read_ahead_, "");
  size_t whole = std::string::npos;
  while (whole == std::string::npos || request.size() < whole) {
    if (const size_t end = request.find("\r\n\r\n"); end != std::string::npos) {
      whole = end + 4 + content_length(request.substr(0, end + 2));
      if (request.size() >= whole) break;
    }
    const std::string more = read_some();
    if (more.empty()) return "";
    request += more;
  }
  read_ahead_ = request.substr(whole);
  return request.substr(0, whole);
}

void Connection::wait_closed() {
  while (!read_some().empty()) {
  }
}

std::unique_ptr<HttpServer> HttpServer::on_loopback(Handler handler) {
  return std::unique_ptr<HttpServer>(
      new HttpServer(listen_on_loopback(), nullptr, std::move(handler)));
}

std::unique_ptr<HttpServer> HttpServer::on_loopback_tls(const TlsFiles& files, Handler handler) {
  return std::unique_ptr<HttpServer>(
      new HttpServer(listen_on_loopback(), std::make_unique<Tls>(files), std::move(handler)));
}

std::unique_ptr<HttpServer> HttpServer::on_unix_socket(const std::filesystem::path& path,
                                                       Handler handler) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.native().copy(address.sun_path, sizeof address.sun_path - 1);
  Fd fd = listen_at(AF_UNIX, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(fd), nullptr, std::move(handler)));
}

HttpServer::HttpServer(Fd listener, std::unique_ptr<Tls> tls, Handler handler)
    : listener_(std::move(listener)), tls_(std::move(tls)), handler_(std::move(handler)) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
  if (address.sin_family == AF_INET) port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

HttpServer::~HttpServer() {
  {
    const Lock lock(mutex_);
    stopping_ = true;
    ::shutdown(listener_.get(), SHUT_RDWR);
    if (open_ >= 0) ::shutdown(open_, SHUT_RDWR);
  }
  thread_.join();
}

std::string HttpServer::base() const {
  return fmt::format("{}://127.0.0.1:{}", tls_ ? "https" : "http", port_);
}

int HttpServer::connections() const {
  const Lock lock(mutex_);
  return connections_;
}

void HttpServer::serve() {
  // Only here, so that a test still notices when the client does not keep it off.
  sigset_t pipe{};
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  while (true) {
    const Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    {
      const Lock lock(mutex_);
      if (stopping_ || !fd.valid()) return;
      open_ = fd.get();
      ++connections_;
    }
    serve_connection(fd.get());
    const Lock lock(mutex_);
    open_ = -1;
  }
}

void HttpServer::serve_connection(int fd) {
  if (!tls_) {
    PlainConnection connection(fd);
    handler_(connection);
    return;
  }
  SSL* const ssl = SSL_new(tls_->context);
  SSL_set_fd(ssl, fd);
  if (SSL_accept(ssl) == 1) {
    TlsConnection connection(ssl);
    handler_(connection);
    SSL_shutdown(ssl);
  }
  SSL_free(ssl);
}

}  // namespace assay::net::testing
