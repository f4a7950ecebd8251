// SPDX-License-Identifier: Apache-2.0
#include "playback/source.h"

#include "playback/media_files.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> pictures_of(const Stream& stream, const std::vector<MediaFile>& files,
                                          const Converter& converter) {
  std::vector<fs::path> stills;
  for (const MediaFile& file : files) {
    if (file.media == Media::still) stills.push_back(file.path);
  }
  ASSAY_TRY(const std::vector<fs::path> converted, converter.stills(stills));
  auto still = converted.begin();
  std::vector<fs::path> frames;
  for (const MediaFile& file : files) {
    if (file.media == Media::jpeg) frames.push_back(file.path);
    if (file.media == Media::still) frames.push_back(*still++);
    if (file.media == Media::video) {
      ASSAY_TRY(const std::vector<fs::path> more,
                converter.video(file.path, stream.frames_per_second));
      frames.insert(frames.end(), more.begin(), more.end());
    }
  }
  return frames;
}

Result<WavTrack> sound_of(const Stream& stream, const std::vector<MediaFile>& files,
                          const Converter& converter) {
  std::vector<WavFile> track;
  for (const MediaFile& file : files) {
    auto wav = file.media == Media::wav ? read_wav(file.path) : std::nullopt;
    if (!wav) {
      ASSAY_TRY(const fs::path converted, converter.sound(file.path));
      wav = read_wav(converted);
    }
    if (!wav || wav->size == 0) continue;
    if (!track.empty() && track.front().format != wav->format) {
      return bad_input(fmt::format(
          "stream '{}': {} has another rate, sample size or number of channels than {}; "
          "name files of one kind in `files`",
          stream.id, file.path.string(), files.front().path.string()));
    }
    track.push_back(*wav);
  }
  if (track.empty())
    return bad_input(
        fmt::format("stream '{}' has nothing to play: its files hold no sound", stream.id));
  return WavTrack(std::move(track));
}

Result<void> check(const Stream& stream) {
  const bool plain = std::none_of(stream.id.begin(), stream.id.end(),
                                  [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (stream.id.empty() || stream.id.size() > 128 || !plain) {
    return bad_input("a stream's id has 1 to 128 characters, and no control characters");
  }
  if (!(stream.frames_per_second >= 0.001 && stream.frames_per_second <= 1000)) {
    return bad_input(fmt::format("stream '{}': {} frames per second is not within 0.001 and 1000",
                                 stream.id, stream.frames_per_second));
  }
  return {};
}

}  // namespace

Source::Source(const Stream& stream, std::vector<fs::path> frames, std::optional<WavTrack> sound)
    : stream_(stream),
      frames_(std::move(frames)),
      sound_(std::move(sound)),
      count_(frames_.size()) {
  if (!sound_) return;
  const uint64_t a_second = uint64_t{sound_->format().rate} * sound_->format().moment_bytes();
  count_ = (sound_->size() * kSoundFramesPerSecond + a_second - 1) / a_second;
}

Result<std::unique_ptr<Source>> Source::open(const Stream& stream, const fs::path& dataset,
                                             const Converter& converter) {
  ASSAY_CHECK(check(stream));
  ASSAY_TRY(const std::vector<MediaFile> files, find_media(stream, dataset));
  if (stream.kind == StreamKind::audio) {
    ASSAY_TRY(WavTrack sound, sound_of(stream, files, converter));
    return std::unique_ptr<Source>(new Source(stream, {}, std::move(sound)));
  }
  ASSAY_TRY(std::vector<fs::path> frames, pictures_of(stream, files, converter));
  return open_pictures(stream, std::move(frames));
}

Result<std::unique_ptr<Source>> Source::open_pictures(const Stream& stream,
                                                      std::vector<fs::path> files) {
  const auto bad = std::stable_partition(files.begin(), files.end(), is_whole_jpeg);
  const auto bad_count = static_cast<uint64_t>(files.end() - bad);
  std::string note;
  if (bad_count > 0) {
    note = fmt::format(
        "stream '{}': {} of {} frames are skipped, since they are no whole pictures; the first is "
        "{}",
        stream.id, bad_count, files.size(), bad->string());
  }
  files.erase(bad, files.end());
  if (files.empty())
    return bad_input(
        fmt::format("stream '{}' has nothing to play: its files hold no whole picture", stream.id));
  std::unique_ptr<Source> source(new Source(stream, std::move(files), std::nullopt));
  source->note_ = std::move(note);
  source->bad_ = bad_count;
  return source;
}

FrameClock Source::clock_from(Clock::rep start) const {
  return FrameClock(Clock::time_point(Clock::duration(start)),
                    sound_ ? kSoundFramesPerSecond : stream_.frames_per_second);
}

FrameClock Source::clock() {
  if (start_ == 0) start_ = std::max<Clock::rep>(1, Clock::now().time_since_epoch().count());
  return clock_from(start_);
}

uint64_t Source::current() {
  const uint64_t frame = clock().frame_at(Clock::now());
  return stream_.loop ? frame : std::min(frame, count_);
}

std::shared_ptr<const FrameFile> Source::picture(uint64_t frame) {
  const size_t index = frame % frames_.size();
  if (picture_ && index == picture_index_) return picture_;
  picture_ = FrameFile::map(frames_[index]);
  picture_index_ = index;
  if (!picture_) ++bad_;
  return picture_;
}

/// Where the frame begins in the track.
uint64_t Source::sound_byte(uint64_t frame) const {
  const WavFormat& format = sound_->format();
  return frame * format.rate / kSoundFramesPerSecond * format.moment_bytes();
}

std::string Source::sound(uint64_t frame, uint64_t frames) const {
  const uint64_t begin = sound_byte(frame);
  return sound_->read(begin, sound_byte(frame + frames) - begin, stream_.loop);
}

StreamStats Source::stats() const {
  return {stream_.id, sent_, skipped_, late_, bad_};
}

bool Source::is_finished() const {
  const Clock::rep start = start_;
  return start != 0 && is_over(clock_from(start).frame_at(Clock::now()));
}

}  // namespace assay::launch
