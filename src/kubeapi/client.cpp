// SPDX-License-Identifier: Apache-2.0
#include "answers.h"
#include "login.h"

#include <fmt/format.h>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/kubeapi/client.h>

namespace assay::kubeapi {
namespace {

constexpr size_t kLargestAnswer = 32U << 20U;
constexpr size_t kLargestToken = 64U << 10U;

constexpr std::string_view kBearer = "Authorization: Bearer ";

std::string token_of(const net::Request& request) {
  for (const auto& header : request.headers)
    if (header.starts_with(kBearer)) return header.substr(kBearer.size());
  return "";
}

}  // namespace

Client::Client(Access access) : access_(std::move(access)), http_(access_.endpoint) {}

Result<net::Request> Client::request(const Call& call, const net::Stopper& stopper) const {
  net::Request request;
  request.method = call.method;
  request.path = call.path;
  request.body = call.body;
  request.timeout = call.patience;
  request.headers.push_back("Accept: " + call.accept);
  if (!call.body.empty()) request.headers.push_back("Content-Type: " + call.content_type);
  for (const auto& header : call.headers) request.headers.push_back(header);
  std::string token = access_.token;
  if (!access_.token_file.empty()) {
    ASSAY_TRY(const std::string text, read_file(access_.token_file, kLargestToken));
    token = trim(text);
  }
  if (access_.login) {
    const auto wanted = [&] {
      return !stopper.stopped() && (call.finish || !wanted_ || wanted_());
    };
    ASSAY_TRY(token, access_.login->token(wanted));
  }
  if (token.find_first_of("\r\n") != token.npos)
    return bad_input("the token for the API server has to be one line");
  if (!token.empty()) request.headers.push_back(std::string(kBearer) + token);
  if (!call.finish) request.still_wanted = wanted_;
  return request;
}

Result<net::Response> Client::stream(const Call& call, const net::HttpClient::Take& take,
                                     net::Stopper& stopper) {
  retry_after_ = Milliseconds(0);
  ASSAY_TRY(const net::Request asked, request(call, stopper));
  if (access_.login && access_.login->certificates() != certificates_) {
    certificates_ = access_.login->certificates();
    http_ = net::HttpClient(access_.endpoint);
  }
  ASSAY_TRY(net::Response response, http_.stream(asked, take, &stopper));
  if (stopper.stopped() || (asked.still_wanted && !asked.still_wanted())) return refused("stopped");
  retry_after_ = kubeapi::retry_after(response);
  // What stands behind a proxy may want something else.
  if (response.status == 401 && access_.login && call.path.find("/proxy/") == call.path.npos)
    access_.login->forget(token_of(asked));
  return response;
}

Result<net::Response> Client::call(const Call& call, net::Stopper& stopper) {
  std::string body;
  const auto take = [&](std::string_view piece) {
    body += piece;
    return body.size() <= kLargestAnswer;
  };
  ASSAY_TRY(net::Response response, stream(call, take, stopper));
  if (body.size() > kLargestAnswer)
    return refused(fmt::format("the answer of the API server {} is larger than {}",
                               net::shown_url(server()),
                               format_bytes(static_cast<double>(kLargestAnswer))));
  if (response.ok()) response.body = std::move(body);
  return response;
}

Result<std::string> Client::get(const std::string& path, Milliseconds patience,
                                net::Stopper& stopper) {
  ASSAY_TRY(net::Response response, call({.path = path, .patience = patience}, stopper));
  if (!response.ok()) return not_answered(server(), response, "get, list and watch pods");
  return std::move(response.body);
}

}  // namespace assay::kubeapi
