// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::launch {

/// Of uncompressed sound.
struct WavFormat {
  uint32_t rate = 0;  ///< moments a second
  uint16_t channels = 0;
  uint16_t bits = 0;  ///< of one sample

  uint32_t moment_bytes() const { return uint32_t{channels} * bits / 8; }
  bool operator==(const WavFormat&) const = default;
};

/// Where the sound of a WAV file lies.
struct WavFile {
  std::filesystem::path path;
  WavFormat format;
  uint64_t begin = 0;
  uint64_t size = 0;  ///< whole moments
};

/// Nothing when it is no WAV file of whole-number samples.
std::optional<WavFile> read_wav(const std::filesystem::path& file);

/// The header before `size` bytes of sound, or before sound without end.
std::string wav_header(const WavFormat& format, std::optional<uint32_t> size);

/// Files of one format, one behind the other.
class WavTrack {
 public:
  explicit WavTrack(std::vector<WavFile> files);
  const WavFormat& format() const { return files_.front().format; }
  uint64_t size() const { return size_; }
  /// The bytes from `begin` on, counted over all files; behind the last comes the first again when
  /// it loops, else nothing. What cannot be read any more is silent.
  std::string read(uint64_t begin, size_t size, bool loop) const;

 private:
  const WavFile& file_at(uint64_t& position) const;

  std::vector<WavFile> files_;
  uint64_t size_ = 0;
};

}  // namespace assay::launch
