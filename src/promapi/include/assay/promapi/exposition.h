// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/promapi/labels.h>

namespace assay::promapi {

/// Prometheus' own text, version 0.0.4, or OpenMetrics 1.0.0.
enum class TextFormat { classic, openmetrics };

/// What a scraper is to be given.
struct Negotiated {
  TextFormat format = TextFormat::classic;
  std::string_view content_type;  ///< for the answer's header; lives forever
  bool gzip = false;              ///< the answer may be compressed
};

/// By the request's headers "Accept" and "Accept-Encoding", empty where it has none. OpenMetrics is
/// for those who name it and like it at least as much as plain text; whatever else is asked for,
/// garbage too, is answered with the classic text.
Negotiated negotiate(std::string_view accept, std::string_view accept_encoding);

enum class FamilyKind { counter, gauge, histogram, info, unknown };

/// How many observations were at most `upper_bound`: the smaller ones are counted too.
struct Bucket {
  double upper_bound = 0;
  uint64_t count = 0;
};

/// `buckets` go from the smallest bound to the largest; the last one, of all, is added by itself.
struct HistogramValue {
  std::span<const Bucket> buckets;
  double sum = 0;
  uint64_t count = 0;
};

/// Writes what a scrape gets: start, then each family with its samples, then finish. The buffer is
/// kept from scrape to scrape, so that nothing is allocated once it has its size. Not thread-safe.
class Exposition {
 public:
  void start(TextFormat format);

  /// Samples that follow belong to it; without one it writes nothing. The name is as in the classic
  /// text ("x_seconds_total", "x_info") and valid (see sanitized_name); it may come once a scrape.
  /// In OpenMetrics a counter whose name does not end in "_total" is of unknown type, so that its
  /// name stays. `unit` is written where OpenMetrics allows it: as the end of the name.
  void family(std::string_view name, FamilyKind kind, std::string_view help,
              std::string_view unit = {});

  using Time = std::optional<Timestamp>;
  /// A counter's value that is negative or no number is left out.
  void sample(const LabelText& labels, double value, Time time = {});
  /// Of a series that has one label more than `labels`, not empty and valid UTF-8, such as a CPU's
  /// number.
  void sample(const LabelText& labels, const Label& extra, double value, Time time = {});
  void histogram(const LabelText& labels, const HistogramValue& value, Time time = {});

  /// The whole text, until the next start.
  std::string_view finish();

 private:
  void write_head();
  void line(std::string_view suffix, const LabelText& labels, const Label& extra, double value,
            Time time);
  bool is_wanted(double value) const;
  char* room(size_t bytes);
  void put(std::string_view text);
  void put_escaped(std::string_view text, bool quotes);

  TextFormat format_ = TextFormat::classic;
  FamilyKind kind_ = FamilyKind::unknown;
  bool pending_ = false;  ///< the family has no sample yet
  std::string name_;      ///< of the samples
  std::string help_;
  std::string unit_;
  std::string buffer_;  ///< its size is what was allocated
  size_t used_ = 0;
};

/// Compresses as HTTP's "gzip", quickly rather than well. State and buffer are kept from text to
/// text. Not thread-safe.
class Gzip {
 public:
  Gzip();
  Gzip(Gzip&& other) noexcept;
  Gzip& operator=(Gzip&& other) noexcept;
  ~Gzip();

  /// Until the next call. Fails only without memory.
  Result<std::string_view> compressed(std::string_view text);

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string buffer_;
};

}  // namespace assay::promapi
