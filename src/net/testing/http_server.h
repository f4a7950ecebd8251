// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <assay/base/files.h>
#include <assay/base/mutex.h>

namespace assay::net::testing {

/// The certificates of a server; `client_ca` makes it ask for the client's.
struct TlsFiles {
  std::filesystem::path certificate;
  std::filesystem::path key;
  std::filesystem::path client_ca;
};

/// One client's connection.
class Connection {
 public:
  virtual ~Connection() = default;
  /// At most so many bytes; empty at the client's end.
  virtual std::string read_some() = 0;
  virtual void write(std::string_view bytes) = 0;

  /// Head and body of the next request; empty when the client has gone.
  std::string read_request();
  /// Returns when the client has closed its side.
  void wait_closed();

 private:
  std::string read_ahead_;
};

/// A server whose test says what it answers. One connection after the other; the connection is
/// closed when the handler returns.
class HttpServer {
 public:
  using Handler = std::function<void(Connection&)>;

  static std::unique_ptr<HttpServer> on_loopback(Handler handler);
  static std::unique_ptr<HttpServer> on_loopback_tls(const TlsFiles& files, Handler handler);
  static std::unique_ptr<HttpServer> on_unix_socket(const std::filesystem::path& path,
                                                    Handler handler);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  /// Also ends the connection that is open.
  ~HttpServer();

  int port() const { return port_; }
  std::string base() const;
  int connections() const;

 private:
  struct Tls;
  HttpServer(Fd listener, std::unique_ptr<Tls> tls, Handler handler);

  void serve();
  void serve_connection(int fd);

  Fd listener_;
  int port_ = 0;
  std::unique_ptr<Tls> tls_;
  Handler handler_;
  mutable Mutex mutex_;
  int open_ ASSAY_GUARDED_BY(mutex_) = -1;
  bool stopping_ ASSAY_GUARDED_BY(mutex_) = false;
  int connections_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::thread thread_;
};

}  // namespace assay::net::testing
