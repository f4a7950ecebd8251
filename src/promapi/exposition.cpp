// SPDX-License-Identifier: Apache-2.0
#include "escape.h"
#include "number_text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include <assay/promapi/exposition.h>

namespace assay::promapi {
namespace {

constexpr std::string_view kTotal = "_total";
constexpr std::string_view kInfo = "_info";
constexpr size_t kFirstSize = 1U << 16U;
// What a line has beside names, labels and numbers: {,=""} and spaces.
constexpr size_t kPunctuation = 16;

std::string_view without(std::string_view name, std::string_view ending) {
  return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : name;
}

char* write(char* at, std::string_view text) {
  return std::copy(text.begin(), text.end(), at);
}

/// The kind as the format calls it.
std::string_view word_of(FamilyKind kind, TextFormat format) {
  const bool classic = format == TextFormat::classic;
  switch (kind) {
    case FamilyKind::counter:
      return "counter";
    case FamilyKind::gauge:
      return "gauge";
    case FamilyKind::histogram:
      return "histogram";
    case FamilyKind::info:
      return classic ? "gauge" : "info";
    case FamilyKind::unknown:
      break;
  }
  return classic ? "untyped" : "unknown";
}

/// The family's name in OpenMetrics, to which its samples add what belongs to their kind.
std::string_view openmetrics_name(std::string_view name, FamilyKind kind) {
  if (kind == FamilyKind::counter) return without(name, kTotal);
  if (kind == FamilyKind::info) return without(name, kInfo);
  return name;
}

bool is_unit_of(std::string_view name, std::string_view unit) {
  return !unit.empty() && name.size() > unit.size() && name.ends_with(unit) &&
         name[name.size() - unit.size() - 1] == '_';
}

char* write_labels(char* at, std::string_view labels, const Label& extra) {
  if (labels.empty() && extra.name.empty()) return at;
  *at++ = '{';
  at = write(at, labels);
  if (!extra.name.empty()) {
    if (!labels.empty()) *at++ = ',';
    at = write(at, extra.name);
    at = write(at, "=\"");
    at = write_escaped(at, extra.value, true);
    *at++ = '"';
  }
  *at++ = '}';
  return at;
}

char* write_time(char* at, Timestamp time, TextFormat format) {
  using std::chrono::duration_cast;
  const int64_t ms = duration_cast<Milliseconds>(time.time_since_epoch()).count();
  *at++ = ' ';
  return format == TextFormat::classic ? write_integer(at, ms) : write_seconds(at, ms);
}

}  // namespace

void Exposition::start(TextFormat format) {
  format_ = format;
  used_ = 0;
}

void Exposition::family(std::string_view name, FamilyKind kind, std::string_view help,
                        std::string_view unit) {
  const bool renamed = kind == FamilyKind::counter && !name.ends_with(kTotal);
  kind_ = renamed && format_ == TextFormat::openmetrics ? FamilyKind::unknown : kind;
  name_ = name;
  if (kind == FamilyKind::info && !name.ends_with(kInfo)) name_ += kInfo;
  help_ = help;
  unit_ = unit;
  pending_ = true;
}

void Exposition::write_head() {
  pending_ = false;
  const bool openmetrics = format_ == TextFormat::openmetrics;
  const std::string_view name = openmetrics ? openmetrics_name(name_, kind_) : name_;
  if (!help_.empty()) {
    put("# HELP ");
    put(name);
    put(" ");
    put_escaped(help_, openmetrics);
    put("\n");
  }
  put("# TYPE ");
  put(name);
  put(" ");
  put(word_of(kind_, format_));
  put("\n");
  if (openmetrics && kind_ != FamilyKind::info && is_unit_of(name, unit_)) {
    put("# UNIT ");
    put(name);
    put(" ");
    put(unit_);
    put("\n");
  }
}

bool Exposition::is_wanted(double value) const {
  return kind_ != FamilyKind::counter || value >= 0;
}

void Exposition::sample(const LabelText& labels, double value, Time time) {
  sample(labels, {}, value, time);
}

void Exposition::sample(const LabelText& labels, const Label& extra, double value, Time time) {
  if (is_wanted(value)) line({}, labels, extra, value, time);
}

void Exposition::histogram(const LabelText& labels, const HistogramValue& value, Time time) {
  std::array<char, kNumberRoom> bound{};
  for (const auto& bucket : value.buckets) {
    if (!std::isfinite(bucket.upper_bound)) continue;
    const char* const end = write_bound(bound.data(), bucket.upper_bound);
    const std::string_view le(bound.data(), static_cast<size_t>(end - bound.data()));
    line("_bucket", labels, {"le", le}, static_cast<double>(bucket.count), time);
  }
  const auto count = static_cast<double>(value.count);
  line("_bucket", labels, {"le", "+Inf"}, count, time);
  line("_sum", labels, {}, value.sum, time);
  line("_count", labels, {}, count, time);
}

void Exposition::line(std::string_view suffix, const LabelText& labels, const Label& extra,
                      double value, Time time) {
  if (pending_) write_head();
  char* const begin = room(name_.size() + suffix.size() + labels.text().size() + extra.name.size() +
                           most_escaped(extra.value.size()) + 2 * kNumberRoom + kPunctuation);
  char* at = write(write(begin, name_), suffix);
  at = write_labels(at, labels.text(), extra);
  *at++ = ' ';
  at = write_value(at, value);
  if (time) at = write_time(at, *time, format_);
  *at++ = '\n';
  used_ += static_cast<size_t>(at - begin);
}

std::string_view Exposition::finish() {
  if (format_ == TextFormat::openmetrics) put("# EOF\n");
  return std::string_view(buffer_).substr(0, used_);
}

/// Where the next bytes go, with room for so many; `used_` is for the caller to move.
char* Exposition::room(size_t bytes) {
  if (buffer_.size() - used_ < bytes)
    buffer_.resize(std::max({2 * buffer_.size(), used_ + bytes, kFirstSize}));
  return buffer_.data() + used_;
}

void Exposition::put(std::string_view text) {
  write(room(text.size()), text);
  used_ += text.size();
}

void Exposition::put_escaped(std::string_view text, bool quotes) {
  char* const begin = room(most_escaped(text.size()));
  used_ += static_cast<size_t>(write_escaped(begin, text, quotes) - begin);
}

}  // namespace assay::promapi
