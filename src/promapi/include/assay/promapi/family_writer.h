// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <assay/base/time.h>
#include <assay/promapi/labels.h>

namespace assay::promapi {

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

/// Takes families, each with its samples behind it, whether for a scrape or for remote write.
class FamilyWriter {
 public:
  using Time = std::optional<Timestamp>;

  virtual ~FamilyWriter() = default;

  /// Samples that follow belong to it; without one it writes nothing. The name is as in the classic
  /// text ("x_seconds_total", "x_info") and valid (see sanitized_name); it may come once a scrape.
  /// In OpenMetrics a counter whose name does not end in "_total" is of unknown type, so that its
  /// name stays. `unit` is written where OpenMetrics allows it: as the end of the name.
  void family(std::string_view name, FamilyKind kind, std::string_view help,
              std::string_view unit = {});

  /// A counter's value that is negative or no number is left out.
  void sample(const LabelText& labels, double value, Time time = {}) {
    sample(labels, std::span<const Label>(), value, time);
  }
  /// Of a series that has labels beside `labels`, such as a CPU's number: none empty, none of a
  /// name that is among `labels`, and all valid UTF-8.
  void sample(const LabelText& labels, std::span<const Label> extra, double value, Time time = {}) {
    if (kind_ != FamilyKind::counter || value >= 0) write({}, labels, extra, value, time);
  }
  void sample(const LabelText& labels, const Label& extra, double value, Time time = {}) {
    sample(labels, std::span(&extra, 1), value, time);
  }
  void histogram(const LabelText& labels, const HistogramValue& value, Time time = {});

 protected:
  /// Of the family that was begun last.
  const std::string& name() const { return name_; }

 private:
  virtual void begin(FamilyKind kind, std::string_view help, std::string_view unit) = 0;
  /// A sample of the series whose name is name() and `suffix`.
  virtual void write(std::string_view suffix, const LabelText& labels, std::span<const Label> extra,
                     double value, Time time) = 0;

  FamilyKind kind_ = FamilyKind::unknown;
  std::string name_;
};

}  // namespace assay::promapi
