// SPDX-License-Identifier: Apache-2.0
#include "answers.h"
#include "login.h"
#include "memory_file.h"

#include <fmt/format.h>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/kubeapi/client.h>

namespace assay::kubeapi {
namespace {

constexpr size_t kLargestAnswer = 32U << 20U;
constexpr size_t kLargestToken = 64U << 10U;

}  // namespace

Client::Client(Access access) : access_(std::move(access)), http_(access_.endpoint) {}

Result<Credential> Client::credential(const Call& call, const net::Stopper& stopper) const {
  if (access_.login) {
    const auto wanted = [&] {
      return !stopper.stopped() && (call.finish || !wanted_ || wanted_());
    };
    return access_.login->credential(wanted);
  }
  if (access_.token_file.empty()) return Credential{.token = access_.token};
  ASSAY_TRY(const std::string text, read_file(access_.token_file, kLargestToken));
  return Credential{.token = std::string(trim(text))};
}

void Client::show(const std::shared_ptr<const Fd>& certificate) {
  if (certificate == certificate_) return;
  certificate_ = certificate;
  net::Endpoint endpoint = access_.endpoint;
  if (certificate_) endpoint.certificate_file = endpoint.key_file = path_in_memory(*certificate_);
  http_ = net::HttpClient(endpoint);
}

Result<net::Request> Client::request(const Call& call, const std::string& token) const {
  net::Request request;
  request.method = call.method;
  request.path = call.path;
  request.body = call.body;
  request.timeout = call.patience;
  request.headers.push_back("Accept: " + call.accept);
  if (!call.body.empty()) request.headers.push_back("Content-Type: " + call.content_type);
  for (const auto& header : call.headers) request.headers.push_back(header);
  if (token.find_first_of("\r\n") != token.npos)
    return bad_input("the token for the API server has to be one line");
  if (!token.empty()) request.headers.push_back("Authorization: Bearer " + token);
  if (!call.finish) request.still_wanted = wanted_;
  return request;
}

Result<net::Response> Client::stream(const Call& call, const net::HttpClient::Take& take,
                                     net::Stopper& stopper) {
  retry_after_ = Milliseconds(0);
  ASSAY_TRY(const Credential shown, credential(call, stopper));
  ASSAY_TRY(const net::Request asked, request(call, shown.token));
  show(shown.certificate);
  ASSAY_TRY(net::Response response, http_.stream(asked, take, &stopper));
  if (stopper.stopped() || (asked.still_wanted && !asked.still_wanted())) return refused("stopped");
  retry_after_ = kubeapi::retry_after(response);
  // What stands behind a proxy may want something else.
  if (response.status == 401 && access_.login && call.path.find("/proxy/") == call.path.npos)
    access_.login->forget(shown.number);
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
