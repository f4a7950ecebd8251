// SPDX-License-Identifier: Apache-2.0
#include "label_message.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <protozero/pbf_writer.hpp>
#include <snappy.h>

#include <assay/promapi/remote_write.h>

// The messages, as prometheus/prompb has them:
//   WriteRequest { repeated TimeSeries timeseries = 1; }
//   TimeSeries   { repeated Label labels = 1; repeated Sample samples = 2; }
//   Label        { string name = 1; string value = 2; }
//   Sample       { double value = 1; int64 timestamp = 2; }
namespace assay::promapi {
namespace {

using protozero::pbf_writer;

constexpr protozero::pbf_tag_type kTimeSeries = 1;
constexpr protozero::pbf_tag_type kLabels = 1;
constexpr protozero::pbf_tag_type kSamples = 2;
constexpr protozero::pbf_tag_type kName = 1;
constexpr protozero::pbf_tag_type kLabelValue = 2;
constexpr protozero::pbf_tag_type kValue = 1;
constexpr protozero::pbf_tag_type kTimestamp = 2;

}  // namespace

void write_label(std::string& to, std::string_view name, std::string_view value) {
  pbf_writer series(to);
  pbf_writer label(series, kLabels);
  label.add_string(kName, name.data(), name.size());
  label.add_string(kLabelValue, value.data(), value.size());
}

double stale_marker() {
  return std::bit_cast<double>(uint64_t{0x7ff0000000000002});
}

SeriesLabels::SeriesLabels(std::string_view name, std::span<const Label> labels) {
  CleanLabels clean = clean_labels(labels);
  // Cleaned names never begin with two "_", so this one is not there yet.
  const std::pair<std::string, std::string> named("__name__", sanitized_name(name));
  clean.insert(std::upper_bound(clean.begin(), clean.end(), named), named);
  for (const auto& [label, value] : clean) write_label(encoded_, label, value);
}

void WriteRequest::start() {
  message_.clear();
  samples_ = 0;
}

void WriteRequest::add(std::string_view labels, std::span<const TimedValue> values) {
  using std::chrono::duration_cast;
  if (values.empty()) return;
  pbf_writer request(message_);
  pbf_writer encoded(request, kTimeSeries);
  message_ += labels;
  for (const auto& [time, value] : values) {
    pbf_writer sample(encoded, kSamples);
    sample.add_double(kValue, value);
    sample.add_int64(kTimestamp, duration_cast<Milliseconds>(time.time_since_epoch()).count());
  }
  samples_ += values.size();
}

void WriteRequest::add(std::string_view labels, Timestamp time, double value) {
  const TimedValue one{time, value};
  add(labels, std::span(&one, 1));
}

std::string_view WriteRequest::finish() {
  compressed_.resize(snappy::MaxCompressedLength(message_.size()));
  size_t size = 0;
  snappy::RawCompress(message_.data(), message_.size(), compressed_.data(), &size);
  return std::string_view(compressed_).substr(0, size);
}

}  // namespace assay::promapi
