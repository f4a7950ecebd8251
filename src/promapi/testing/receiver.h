// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testing/http_server.h"

#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/mutex.h>

namespace assay::promapi::testing {

/// Answers as the test says and keeps what it was sent.
class Receiver {
 public:
  Receiver()
      : server_(net::testing::HttpServer::on_loopback(
            [this](net::testing::Connection& c) { serve(c); })) {}

  void answer(std::string_view status_line, std::string_view headers = "",
              std::string_view body = "") {
    const Lock lock(mutex_);
    answer_ = fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\n{}\r\n{}", status_line, body.size(),
                          headers, body);
  }
  std::vector<std::string> requests() const {
    const Lock lock(mutex_);
    return requests_;
  }
  /// The bodies of those that were answered with success.
  std::vector<std::string> taken() const {
    const Lock lock(mutex_);
    return taken_;
  }
  std::string url() const { return server_->base() + "/api/v1/write"; }
  int port() const { return server_->port(); }

 private:
  void serve(net::testing::Connection& connection) {
    for (std::string request; !(request = connection.read_request()).empty();) {
      std::string answer;
      {
        const Lock lock(mutex_);
        answer = answer_;
        if (answer.starts_with("HTTP/1.1 2"))
          taken_.push_back(request.substr(request.find("\r\n\r\n") + 4));
        requests_.push_back(std::move(request));
      }
      connection.write(answer);
    }
  }

  mutable Mutex mutex_;
  std::string answer_ ASSAY_GUARDED_BY(mutex_) = "HTTP/1.1 204 No Content\r\n\r\n";
  std::vector<std::string> requests_ ASSAY_GUARDED_BY(mutex_);
  std::vector<std::string> taken_ ASSAY_GUARDED_BY(mutex_);
  std::unique_ptr<net::testing::HttpServer> server_;  // last: its thread uses the above
};

}  // namespace assay::promapi::testing
