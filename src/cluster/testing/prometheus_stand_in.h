// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testing/http_server.h"

#include <fmt/format.h>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <assay/base/mutex.h>
#include <assay/promapi/query.h>

namespace assay::cluster::testing {

/// Labels as JSON and a value.
using Series = std::vector<std::pair<std::string, double>>;

inline std::string vector_of(const Series& series) {
  std::string result;
  for (const auto& [labels, value] : series)
    result += fmt::format(R"({}{{"metric": {}, "value": [1700000000, "{}"]}})",
                          result.empty() ? "" : ",", labels, value);
  return R"({"status": "success", "data": {"resultType": "vector", "result": [)" + result + "]}}";
}

/// A stand-in for a Prometheus: the first entry whose key is in the query has the answer; without
/// one there are no series.
class Prometheus {
 public:
  explicit Prometheus(std::vector<std::pair<std::string, std::string>> answers)
      : answers_(std::move(answers)) {
    http_ = net::testing::HttpServer::on_loopback(
        [this](net::testing::Connection& connection) { serve(connection); });
  }
  promapi::PrometheusAccess access() const { return {.url = http_->base()}; }
  std::vector<std::string> asked() const {
    const Lock lock(mutex_);
    return asked_;
  }

 private:
  static std::string decoded(const std::string& text) {
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '%' && i + 2 < text.size()) {
        result += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
        i += 2;
      } else {
        result += text[i] == '+' ? ' ' : text[i];
      }
    }
    return result;
  }

  void serve(net::testing::Connection& connection) {
    for (std::string request = connection.read_request(); !request.empty();
         request = connection.read_request()) {
      const auto query = decoded(request.substr(0, request.find("\r\n")));
      std::string body = vector_of({});
      for (const auto& [key, answer] : answers_) {
        if (query.find(key) == std::string::npos) continue;
        body = answer;
        break;
      }
      {
        const Lock lock(mutex_);
        asked_.push_back(query);
      }
      connection.write(
          fmt::format("HTTP/1.1 200 X\r\nContent-Length: {}\r\n\r\n{}", body.size(), body));
    }
  }

  const std::vector<std::pair<std::string, std::string>> answers_;
  mutable Mutex mutex_;
  std::vector<std::string> asked_ ASSAY_GUARDED_BY(mutex_);
  std::unique_ptr<net::testing::HttpServer> http_;
};

}  // namespace assay::cluster::testing
