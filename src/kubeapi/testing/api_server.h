// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testing/http_server.h"

#include <fmt/format.h>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/mutex.h>
#include <assay/kubeapi/access.h>

namespace assay::kubeapi::testing {

inline std::string answer(int status, std::string_view body) {
  return fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
}

/// "/api/v1/pods?limit=2" of a request.
inline std::string path_of(const std::string& request) {
  const size_t begin = request.find(' ') + 1;
  return request.substr(begin, request.find(' ', begin) - begin);
}

/// A stand-in for an API server that gives its answers one after the other and remembers what it
/// was asked.
class ApiServer {
 public:
  /// Told of each request before it is answered.
  using OnRequest = std::function<void(const std::string& request)>;

  explicit ApiServer(std::vector<std::string> answers, OnRequest on_request = {})
      : answers_(std::move(answers)), on_request_(std::move(on_request)) {
    http_ = net::testing::HttpServer::on_loopback(
        [this](net::testing::Connection& connection) { serve(connection); });
  }
  Access access() const { return {.endpoint = {.base = http_->base()}}; }
  int connections() const { return http_->connections(); }
  std::vector<std::string> asked() const {
    const Lock lock(mutex_);
    return asked_;
  }

 private:
  void serve(net::testing::Connection& connection) {
    for (std::string request = connection.read_request(); !request.empty();
         request = connection.read_request()) {
      const Lock lock(mutex_);
      if (on_request_) on_request_(request);
      asked_.push_back(request);
      if (asked_.size() > answers_.size()) return;
      connection.write(answers_[asked_.size() - 1]);
    }
  }

  const std::vector<std::string> answers_;
  const OnRequest on_request_;
  mutable Mutex mutex_;
  std::vector<std::string> asked_ ASSAY_GUARDED_BY(mutex_);
  std::unique_ptr<net::testing::HttpServer> http_;
};

}  // namespace assay::kubeapi::testing
