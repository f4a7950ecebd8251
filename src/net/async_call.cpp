// SPDX-License-Identifier: Apache-2.0
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <sys/un.h>
#include <utility>  // before Asio, which forgets it

#include <assay/net/async_call.h>

namespace assay::net {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

asio::awaitable<ShortAnswer> async_call(std::filesystem::path unix_socket, ShortCall call,
                                        Milliseconds patience) {
  using Local = asio::local::stream_protocol;
  ShortAnswer answer;
  const sockaddr_un form{};
  if (unix_socket.native().size() >= sizeof form.sun_path) co_return answer;
  beast::basic_stream<Local> stream(co_await asio::this_coro::executor);
  boost::system::error_code error;
  auto or_error = asio::redirect_error(asio::use_awaitable, error);
  stream.expires_after(patience);
  co_await stream.async_connect(Local::endpoint(unix_socket.native()), or_error);
  if (error) co_return answer;
  http::request<http::string_body> request(http::string_to_verb(call.method), call.path, 11);
  request.set(http::field::host, "localhost");
  if (!call.body.empty()) {
    request.set(http::field::content_type, "application/json");
    request.body() = std::move(call.body);
    request.prepare_payload();
  }
  request.keep_alive(false);
  co_await http::async_write(stream, request, or_error);
  if (error) co_return answer;
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMaxShortAnswer);
  co_await http::async_read(stream, buffer, parser, or_error);
  if (error) co_return answer;
  answer.status = static_cast<int>(parser.get().result_int());
  answer.body = std::move(parser.get().body());
  co_return answer;
}

}  // namespace assay::net
