// SPDX-License-Identifier: Apache-2.0
#include "label_encoder.h"

#include <assay/promapi/request_writer.h>

namespace assay::promapi {
namespace {

/// For how many passes a series that has gone is remembered: it may come back with an older time.
constexpr uint32_t kPassesRemembered = 20;
constexpr auto kBelievedStep = std::chrono::hours(24);

bool is_after(Timestamp time, Timestamp last) {
  return time > last || time < last - kBelievedStep;
}

}  // namespace

RequestWriter::RequestWriter(std::span<const Label> external, Take take)
    : take_(std::move(take)), encoder_(std::make_unique<LabelEncoder>(external)) {}
RequestWriter::~RequestWriter() = default;

void RequestWriter::start(Timestamp time) {
  // What the receiver keeps are milliseconds: within one, nothing is newer.
  time_ = std::chrono::floor<Milliseconds>(time);
  ++pass_;
  request_.start();
}

void RequestWriter::begin(FamilyKind /*kind*/, std::string_view /*help*/,
                          std::string_view /*unit*/) {}

void RequestWriter::write(std::string_view suffix, const LabelText& labels,
                          std::span<const Label> extra, double value, Time time) {
  const std::string_view encoded = encoder_->encode(name(), suffix, labels, extra);
  auto found = series_.find(encoded);
  if (found == series_.end()) found = series_.try_emplace(std::string(encoded)).first;
  Series& series = found->second;
  series.pass = pass_;
  const Timestamp when = time ? std::chrono::floor<Milliseconds>(*time) : time_;
  if (!add(found->first, series, when, value)) ++late_samples_;
}

/// False when its time has not come on.
bool RequestWriter::add(const std::string& labels, Series& series, Timestamp time, double value) {
  if (!is_after(time, series.last)) return false;
  series.last = time;
  series.stale = false;
  request_.add(std::string_view(labels), time, value);
  if (request_.samples() >= WriteRequest::kManySamples) flush();
  return true;
}

void RequestWriter::finish() {
  for (auto at = series_.begin(); at != series_.end();) {
    Series& series = at->second;
    const uint32_t missed = pass_ - series.pass;
    if (missed > 0 && !series.stale) series.stale = add(at->first, series, time_, stale_marker());
    at = missed > kPassesRemembered ? series_.erase(at) : std::next(at);
  }
  flush();
}

void RequestWriter::flush() {
  if (request_.samples() == 0) return;
  take_(request_.finish(), static_cast<uint32_t>(request_.samples()));
  request_.start();
}

}  // namespace assay::promapi
