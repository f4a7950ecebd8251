// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include <assay/base/time.h>
#include <assay/promapi/family_writer.h>
#include <assay/promapi/remote_write.h>

namespace assay::promapi {

class LabelEncoder;

/// Turns families into requests of remote write, one pass at a time: start, the families, finish.
/// It remembers which series there were: one that a pass lacks gets a stale marker, once, and one
/// whose time has not moved on (the clock was set back, or it came twice) gets no sample, since the
/// receiver would refuse the whole request. A step back by more than a day is believed: the time
/// before it was wrong. Allocates for new series and for each request, not for samples. Not
/// thread-safe.
class RequestWriter final : public FamilyWriter {
 public:
  /// Given each request, compressed, and how many samples are in it.
  using Take = std::function<void(std::string_view request, uint32_t samples)>;

  /// `external` labels are added to each series that has none of that name.
  RequestWriter(std::span<const Label> external, Take take);
  RequestWriter(const RequestWriter&) = delete;
  RequestWriter& operator=(const RequestWriter&) = delete;
  ~RequestWriter() override;

  /// Samples that bring no time of their own get this one.
  void start(Timestamp time);
  void finish();

  /// Those of the last pass and those that have gone lately.
  size_t series() const { return series_.size(); }
  /// Samples that were left out because of their time.
  uint64_t late_samples() const { return late_samples_; }

 private:
  struct Series {
    Timestamp last{};    ///< of its newest sample
    uint32_t pass = 0;   ///< that had it last
    bool stale = false;  ///< its marker is written
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  void begin(FamilyKind kind, std::string_view help, std::string_view unit) override;
  void write(std::string_view suffix, const LabelText& labels, std::span<const Label> extra,
             double value, Time time) override;
  bool add(const std::string& labels, Series& series, Timestamp time, double value);
  void flush();

  const Take take_;
  const std::unique_ptr<LabelEncoder> encoder_;
  /// By their encoded labels.
  std::unordered_map<std::string, Series, Hash, std::equal_to<>> series_;
  WriteRequest request_;
  Timestamp time_{};
  uint32_t pass_ = 0;
  uint64_t late_samples_ = 0;
};

}  // namespace assay::promapi
