// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
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

/// When a range query asks: from the first to the last time, both included.
struct QueryRange {
  Timestamp from = {};
  Timestamp to = {};
  Nanoseconds step{std::chrono::minutes(1)};
};
/// A series' values over a range; values that are missing are left out.
struct RangeSeries {
  std::map<std::string, std::string> labels;
  std::vector<std::pair<Timestamp, double>> samples;  ///< ascending
};
struct RangeAnswer {
  std::vector<RangeSeries> series;
  std::vector<std::string> warnings;  ///< why it may not be all, each once
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
  /// The values over a range, however long: it is asked for in pieces, since Prometheus gives no
  /// more than 11,000 values of a series at once. More than ten million steps are an error.
  Result<RangeAnswer> range(const std::string& expression, const QueryRange& range,
                            net::Stopper* stopper = nullptr);

 private:
  Result<std::string> ask(const std::string& path, net::Stopper* stopper);

  struct State;
  std::unique_ptr<State> state_;
};

/// What Prometheus answered to an instant query; `who` is for messages.
Result<InstantAnswer> parse_instant(const std::string& body, const std::string& who);
/// The same of a range query.
Result<RangeAnswer> parse_range(const std::string& body, const std::string& who);

}  // namespace assay::promapi
