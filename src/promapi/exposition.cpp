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

char* put_text(char* at, std::string_view text) {
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

/// What a line's labels take at most.
size_t most_labels(std::string_view labels, std::span<const Label> extra) {
  size_t most = labels.size();
  for (const auto& label : extra)
    most += label.name.size() + most_escaped(label.value.size()) + kPunctuation;
  return most;
}

char* write_labels(char* at, std::string_view labels, std::span<const Label> extra) {
  if (labels.empty() && extra.empty()) return at;
  *at++ = '{';
  at = put_text(at, labels);
  bool first = labels.empty();
  for (const auto& label : extra) {
    if (!first) *at++ = ',';
    first = false;
    at = put_text(at, label.name);
    at = put_text(at, "=\"");
    at = write_escaped(at, label.value, true);
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

void Exposition::begin(FamilyKind kind, std::string_view help, std::string_view unit) {
  const bool renamed = kind == FamilyKind::counter && !name().ends_with(kTotal);
  kind_ = renamed && format_ == TextFormat::openmetrics ? FamilyKind::unknown : kind;
  help_ = help;
  unit_ = unit;
  pending_ = true;
}

void Exposition::write_head() {
  pending_ = false;
  const bool openmetrics = format_ == TextFormat::openmetrics;
  const std::string_view family = openmetrics ? openmetrics_name(name(), kind_) : name();
  if (!help_.empty()) {
    put("# HELP ");
    put(family);
    put(" ");
    put_escaped(help_, openmetrics);
    put("\n");
  }
  put("# TYPE ");
  put(family);
  put(" ");
  put(word_of(kind_, format_));
  put("\n");
  if (openmetrics && kind_ != FamilyKind::info && is_unit_of(family, unit_)) {
    put("# UNIT ");
    put(family);
    put(" ");
    put(unit_);
    put("\n");
  }
}

void Exposition::write(std::string_view suffix, const LabelText& labels,
                       std::span<const Label> extra, double value, Time time) {
  if (pending_) write_head();
  char* const begin = room(name().size() + suffix.size() + most_labels(labels.text(), extra) +
                           2 * kNumberRoom + kPunctuation);
  char* at = put_text(put_text(begin, name()), suffix);
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
  put_text(room(text.size()), text);
  used_ += text.size();
}

void Exposition::put_escaped(std::string_view text, bool quotes) {
  char* const begin = room(most_escaped(text.size()));
  used_ += static_cast<size_t>(write_escaped(begin, text, quotes) - begin);
}

}  // namespace assay::promapi
