// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::net {
class Stopper;
}

namespace assay::promapi {

/// Where a Prometheus is and how it is trusted.
struct PrometheusAccess {
  std::string url = {};  ///< "https://prometheus:9090", with a prefix where it has one
  std::filesystem::path ca_file = {};
  /// Read before each request, so that a new token is used at once. At most one of the two.
  std::filesystem::path bearer_token_file = {};
  std::filesystem::path basic_auth_file = {};  ///< "user:password"
  Milliseconds timeout{10000};                 ///< of a request
};

/// A series' value at the time that was asked for.
struct InstantValue {
  std::map<std::string, std::string> labels;
  double value = 0;

  /// Empty when it has no such label.
  const std::string& label(const std::string& name) const;
};
struct InstantAnswer {
  std::vector<InstantValue> series;
  std::vector<std::string> warnings;  ///< why it may not be all, in Prometheus' words
};

/// Asks a Prometheus. Keeps its connection from question to question; one thread at a time.
class Queries {
 public:
  explicit Queries(PrometheusAccess access);
  Queries(Queries&&) noexcept;
  Queries& operator=(Queries&&) noexcept;
  ~Queries();

  /// The values of this moment; an expression that gives no vector is an error, and so is the stop.
  Result<InstantAnswer> instant(const std::string& expression, net::Stopper* stopper = nullptr);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What Prometheus answered to an instant query; `who` is for messages.
Result<InstantAnswer> parse_instant(const std::string& body, const std::string& who);

}  // namespace assay::promapi
