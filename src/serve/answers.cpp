// SPDX-License-Identifier: Apache-2.0
#include "answers.h"

#include <boost/beast/http/status.hpp>
#include <nlohmann/json.hpp>

namespace assay::serve {
namespace {

std::string dumped(const nlohmann::ordered_json& document) {
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

nlohmann::json count(double value) {
  constexpr double kExact = 9007199254740992;
  if (value >= 0 && value <= kExact) return static_cast<uint64_t>(value);
  return value;
}

net::ServerResponse json_answer(int status, std::string body) {
  net::ServerResponse response;
  response.status = status;
  response.content_type = "application/json";
  response.body = std::move(body);
  return response;
}

net::ServerResponse problem(int status, std::string_view detail) {
  namespace http = boost::beast::http;
  const auto title = http::obsolete_reason(static_cast<http::status>(status));
  auto response = json_answer(status, dumped({{"type", "about:blank"},
                                              {"title", std::string(title)},
                                              {"status", status},
                                              {"detail", detail}}));
  response.content_type = "application/problem+json";
  return response;
}

net::ServerResponse old_error(int status, std::string_view message) {
  return json_answer(status, dumped({{"status", "error"}, {"message", message}}));
}

}  // namespace assay::serve
