// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "playback/converter.h"
#include "playback/frame_clock.h"
#include "playback/frame_file.h"
#include "playback/wav.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/launch/playback.h>

namespace assay::launch {

/// One stream: its frames and its clock, which starts with the first question for the time. A frame
/// of sound is a tenth of a second. Used by the thread that plays; what tells its state may be
/// called from any.
class Source {
 public:
  using Clock = FrameClock::Clock;
  static constexpr int kSoundFramesPerSecond = 10;

  static Result<std::unique_ptr<Source>> open(const Stream& stream,
                                              const std::filesystem::path& dataset,
                                              const Converter& converter);

  const Stream& stream() const { return stream_; }
  bool is_sound() const { return sound_.has_value(); }

  FrameClock clock();
  /// The frame of this moment, or the one behind the last.
  uint64_t current();
  bool is_over(uint64_t frame) const { return !stream_.loop && frame >= count_; }
  /// Nothing when its file is gone. Clients share it for as long as it is the latest one asked for.
  std::shared_ptr<const FrameFile> picture(uint64_t frame);
  /// `frames` of them from `frame` on.
  std::string sound(uint64_t frame, uint64_t frames) const;
  const WavFormat& sound_format() const { return sound_->format(); }

  void count_sent() { ++sent_; }
  void count_skipped(uint64_t frames) { skipped_ += frames; }
  void count_late(uint64_t frames) { late_ += frames; }

  // From any thread.
  StreamStats stats() const;
  /// It has been played once, and does not loop.
  bool is_finished() const;
  /// What was wrong with its files; empty: nothing.
  const std::string& note() const { return note_; }

 private:
  Source(const Stream& stream, std::vector<std::filesystem::path> frames,
         std::optional<WavTrack> sound);
  static Result<std::unique_ptr<Source>> open_pictures(const Stream& stream,
                                                       std::vector<std::filesystem::path> files);
  FrameClock clock_from(Clock::rep start) const;
  uint64_t sound_byte(uint64_t frame) const;

  Stream stream_;
  std::vector<std::filesystem::path> frames_;
  std::optional<WavTrack> sound_;
  uint64_t count_ = 0;
  std::string note_;
  std::shared_ptr<const FrameFile> picture_;
  size_t picture_index_ = 0;
  std::atomic<Clock::rep> start_{0};  ///< 0: not begun
  std::atomic<uint64_t> sent_{0};
  std::atomic<uint64_t> skipped_{0};
  std::atomic<uint64_t> late_{0};
  std::atomic<uint64_t> bad_{0};
};

}  // namespace assay::launch
