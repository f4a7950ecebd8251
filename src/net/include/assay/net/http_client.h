// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/mutex.h>
#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::net {

/// Where a service listens and how it is trusted.
struct Endpoint {
  std::string base = "http://localhost";   ///< "https://node:2376"; a request's path is appended
  std::filesystem::path unix_socket = {};  ///< empty: over TCP
  std::filesystem::path ca_file = {};      ///< empty: $SSL_CERT_FILE, else the system's
  std::filesystem::path certificate_file = {};  ///< of the client; empty: none
  std::filesystem::path key_file = {};          ///< of the client's certificate
};

/// Signature V4, as S3 wants it, of a request without a body. The request's path has to be encoded
/// with `url_encoded(key, "/")` and its query's parameters encoded and in the order of their names:
/// they are signed as written.
struct AwsSigning {
  std::string region;
  std::string access_key;
  std::string secret_key;
  std::string session_token = {};  ///< empty: none
};

struct Request {
  std::string method = "GET";
  std::string path;  ///< with the query, encoded
  std::vector<std::string> headers;
  std::string body;
  /// In place of `body`, one of `body_size` bytes that is too large to be held: fills the next part
  /// and tells its size; 0 ends the request as failed.
  std::function<size_t(char* to, size_t most)> read_body = {};
  uint64_t body_size = 0;
  Milliseconds connect_timeout{5000};
  Milliseconds timeout{60000};  ///< for the whole answer; 0: none
  Milliseconds silence{0};      ///< fails when nothing has come for so long; 0: never
  /// How many are followed. Never from https to http, and not at all with a client's certificate
  /// or a signature; Authorization and Cookie headers do not go to another host.
  int redirects = 0;
  /// Asked several times a second, also while nothing comes; false ends it as a Stopper does.
  std::function<bool()> still_wanted = {};
  /// Told once the head of an ok() answer is there, before any of its body.
  std::function<void()> on_head = {};
  std::optional<AwsSigning> aws = {};
};

struct Response {
  int status = 0;                              ///< 0: stopped before an answer
  std::map<std::string, std::string> headers;  ///< lower-case names; repeated ones joined by ", "
  std::string body;

  bool ok() const { return (status >= 200 && status < 300) || status == 101; }
  /// Empty when there is no such header.
  std::string header(const std::string& name) const;
};

/// Ends streams from another thread, at once; those that begin later too. Thread-safe; must live
/// longer than the stream.
class Stopper {
 public:
  void stop();
  bool stopped() const;

 private:
  friend class HttpClient;
  void watch(void* multi);

  mutable Mutex mutex_;
  bool stopped_ ASSAY_GUARDED_BY(mutex_) = false;
  void* multi_ ASSAY_GUARDED_BY(mutex_) = nullptr;
};

/// Speaks HTTP/1.1 with one service and keeps the connection from request to request. One thread
/// at a time. Any answer is a Response, whatever its status; an Error means that there was none, or
/// not a whole one, and is `temporary` where trying again makes sense.
class HttpClient {
 public:
  /// Returns false to end the stream early, which is no error.
  using Take = std::function<bool(std::string_view piece)>;

  explicit HttpClient(Endpoint endpoint);
  HttpClient(HttpClient&& other) noexcept;
  HttpClient& operator=(HttpClient&& other) noexcept;
  ~HttpClient();

  static constexpr size_t kMaxBody = 64U << 20U;
  /// An answer with a larger body is an error.
  Result<Response> send(const Request& request, Stopper* stopper = nullptr);
  /// The body in pieces as they come, until its end, the connection's end or the stop; also what
  /// follows "101 UPGRADED". When the answer is not ok(), its body is in the Response and `take` is
  /// not called.
  Result<Response> stream(const Request& request, const Take& take, Stopper* stopper = nullptr);

  /// Status and headers of the answer that is being read, for use in `take`.
  const Response& head() const;
  /// errno of the last failed connection (EACCES, ENOENT, ECONNREFUSED), 0: none.
  int os_error() const;

 private:
  struct Transfer;
  struct State;

  Result<Response> perform(const Request& request, Transfer& transfer, Stopper* stopper);

  std::unique_ptr<State> state_;
};

/// Percent-encodes all but letters, digits, "-._~" and what is in `keep`.
std::string url_encoded(std::string_view text, std::string_view keep = "");
/// An address as it may be shown: without user, password and query, which may hold secrets.
std::string shown_url(std::string_view url);
/// Whether the address leads to this machine itself: localhost, 127.x.x.x or [::1].
bool is_loopback_url(std::string_view url);

}  // namespace assay::net
