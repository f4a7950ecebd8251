// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/promapi/disk_queue.h>
#include <assay/promapi/labels.h>

namespace assay::promapi {

/// The value that tells Prometheus that a series has ended, so that it is not drawn on for minutes.
double stale_marker();

/// A series' name and labels as remote write sends them, made once when the series appears.
class SeriesLabels {
 public:
  SeriesLabels(std::string_view name, std::span<const Label> labels);
  SeriesLabels(std::string_view name, std::initializer_list<Label> labels)
      : SeriesLabels(name, std::span(labels)) {}

  std::string_view encoded() const { return encoded_; }

 private:
  std::string encoded_;
};

struct TimedValue {
  Timestamp time;
  double value = 0;
};

/// The body of one request of remote write 1.0: start, add, finish. Its buffers are kept. Samples
/// of a series have to come in the order of their times. Not thread-safe.
class WriteRequest {
 public:
  /// As much as one request should have: larger ones are refused by some receivers, and the memory
  /// of one is kept.
  static constexpr size_t kManySamples = 500;

  void start();
  void add(const SeriesLabels& series, std::span<const TimedValue> values) {
    add(series.encoded(), values);
  }
  void add(const SeriesLabels& series, Timestamp time, double value) {
    add(series.encoded(), time, value);
  }
  /// The same for labels as SeriesLabels encodes them.
  void add(std::string_view labels, std::span<const TimedValue> values);
  void add(std::string_view labels, Timestamp time, double value);
  size_t samples() const { return samples_; }
  /// Compressed; until the next start.
  std::string_view finish();

 private:
  std::string message_;
  std::string compressed_;
  size_t samples_ = 0;
};

struct RemoteWriteOptions {
  std::string url = {};  ///< "https://prometheus:9090/api/v1/write"
  std::filesystem::path ca_file = {};
  std::filesystem::path certificate_file = {};  ///< of the client
  std::filesystem::path key_file = {};
  /// Read before each request, so that a new token is used at once. At most one of the two.
  std::filesystem::path bearer_token_file = {};
  std::filesystem::path basic_auth_file = {};  ///< "user:password"
  Milliseconds timeout{30000};                 ///< of a request
  Milliseconds first_wait{1000};               ///< after a failure; doubled by each that follows
  Milliseconds longest_wait{60000};
};

struct RemoteWriteStatus {
  uint64_t sent_samples = 0;
  uint64_t sent_requests = 0;
  uint64_t retries = 0;  ///< requests that failed and are, or were, sent again
  uint64_t dropped_samples = 0;
  uint64_t dropped_requests = 0;  ///< that the receiver refused for good
  std::optional<Timestamp> last_success = {};
  std::string last_error = {};  ///< in words for a user, empty: the last request went well
};

/// Sends what is in a queue, oldest first and one request at a time, in a thread of its own.
/// Network errors, 5xx, 429 (after its Retry-After) and redirects are tried again, ever less often;
/// what the receiver refuses with another 4xx is dropped and counted, since it would refuse it
/// again. Where that is about who we are (401, 403) or where (404), the next one waits as after a
/// failure.
class RemoteWriteSender {
 public:
  /// Told from the sender's thread about the first failure after a success, the first drop after
  /// one, and that it works again.
  using Tell = std::function<void(const std::string& sentence)>;

  /// `queue` and `clock` have to live longer. Refuses options that cannot work.
  static Result<std::unique_ptr<RemoteWriteSender>> start(const RemoteWriteOptions& options,
                                                          DiskQueue& queue, const Clock& clock,
                                                          Tell tell);
  /// Stops at once, also within a request or a wait; what was not sent stays queued.
  virtual ~RemoteWriteSender() = default;
  /// Thread-safe.
  virtual RemoteWriteStatus status() const = 0;
};

}  // namespace assay::promapi
