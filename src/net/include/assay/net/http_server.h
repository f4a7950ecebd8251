// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>  // before Asio, which forgets it
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::net {

/// Where a request came in.
enum class Origin : uint8_t {
  unix_socket,  ///< whoever may open the socket's file
  loopback,     ///< this machine
  network,
};

struct ServerRequest {
  std::string method;
  std::string path;   ///< without the query
  std::string query;  ///< behind the "?", encoded
  Origin origin = Origin::network;
  /// Over a unix socket: as whom the caller runs. Nobody when it is in a container, or gone.
  std::optional<uid_t> user;
  std::string host;  ///< the header "Host": whom the caller believes to talk to
  std::string page;  ///< the header "Origin": the page that a browser asks for
  std::string accept;
  std::string accept_encoding;
  std::string authorization;
  std::string content_type;
  std::optional<uint64_t> content_length = {};  ///< as announced
  std::string address;  ///< of the caller, without the port; empty over a unix socket
  std::string body;
  std::filesystem::path body_file = {};  ///< where it is instead, as RequestPlan says
  std::shared_ptr<void> hold = {};       ///< as RequestPlan had it

  /// The value of a parameter of the query, decoded; empty when it has none of that name.
  std::string parameter(std::string_view name) const;
};

struct ServerResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::filesystem::path file = {};  ///< whose content is the body instead; too large to be held
  /// Where set, the answer goes on after the body: a piece each `interval`, until the client
  /// leaves.
  std::function<std::string()> next;
  Milliseconds interval{1000};
  /// Where set, makes the answer in place of all the above; in another thread, so it may wait.
  std::function<ServerResponse()> later;
};

/// What is done with a request once its head is there.
struct RequestPlan {
  size_t body_bytes = 0;  ///< larger bodies are refused
  /// The body goes to a file in it, which the handler then owns; empty: to memory.
  std::filesystem::path folder = {};
  /// Kept until the request is done with: what was set aside for it.
  std::shared_ptr<void> hold = {};
  /// Whether there is room for so many bytes more in the folder; asked as they come, on the loop.
  std::function<bool(size_t)> take = {};
  /// In place of reading the body and asking the handler.
  std::optional<ServerResponse> refusal = {};
};

/// Bounds on what clients can cost.
struct ServerLimits {
  size_t clients = 64;                  ///< further ones are told to come later
  size_t clients_of_caller = SIZE_MAX;  ///< of these, connections of one caller_of()
  size_t header_bytes = 16384;
  size_t body_bytes = 1U << 20U;
  Milliseconds patience{30'000};          ///< for a request to come, and for an answer to be taken
  double least_bytes_per_second = 100e3;  ///< of bodies that go to a file; slower ones are given up
};

struct ServerState;

/// An answer that says why there is none: {"error": "sentence"}.
ServerResponse refusal(int status, std::string_view sentence);

/// Serves HTTP/1.1 on the caller's event loop and in its thread. Ends its connections when it is
/// destroyed, which has to be after the loop was stopped or in its thread.
class HttpServer {
 public:
  /// Called in the loop, so it must not wait.
  using Handler = std::function<ServerResponse(const ServerRequest&)>;

  HttpServer(boost::asio::io_context& loop, Handler handler, ServerLimits limits = {});
  /// Asked for each request, in place of ServerLimits::body_bytes. To be set before listening.
  void plan_requests(std::function<RequestPlan(const ServerRequest& head)> plan);
  /// How an answer looks that says why there is none; refusal() unless set.
  using Refuse = std::function<ServerResponse(int status, std::string_view sentence)>;
  void refuse_by(Refuse refuse);
  /// Told what a handler threw, from any thread; callers only get 500.
  void tell_mistakes(std::function<void(const std::string&)> tell);

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  /// "127.0.0.1:9410", "[::1]:0", ":9410" for every interface. Returns the port.
  Result<int> listen(const std::string& address);
  /// Replaces the socket's file where nobody listens any more; may be opened by everybody.
  Result<void> listen(const std::filesystem::path& unix_socket);
  size_t clients() const;

 private:
  std::shared_ptr<ServerState> state_;
};

/// Whether HttpServer::listen would understand this address.
Result<void> check_address(const std::string& address);

/// Who counts as one caller: an IPv4 address, or all of the /64 that an IPv6 address is of, since
/// whoever has one address of it mostly has all.
std::string caller_of(const std::string& address);

/// "a%20b+c" is "a b c"; nonsense behind a "%" stays as it is.
std::string query_decoded(std::string_view text);

}  // namespace assay::net
