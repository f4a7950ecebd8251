// SPDX-License-Identifier: Apache-2.0
#include "playback/wav.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <assay/base/files.h>

namespace assay::launch {
namespace {

constexpr uint16_t kPcm = 1;
constexpr uint16_t kExtensible = 0xfffe;
constexpr int kMaxPieces = 1000;

uint32_t number(const char* bytes, int size) {
  uint32_t value = 0;
  for (int i = size; i-- > 0;) value = value << 8U | static_cast<uint8_t>(bytes[i]);
  return value;
}

void append_number(std::string& text, uint32_t value, int size) {
  for (int i = 0; i < size; ++i)
    text += static_cast<char>(value >> (8U * static_cast<unsigned>(i)));
}

std::optional<WavFormat> read_format(int fd, uint64_t at, uint32_t size) {
  std::array<char, 26> bytes{};
  const size_t wanted = std::min<size_t>(size, bytes.size());
  if (wanted < 16 ||
      ::pread(fd, bytes.data(), wanted, static_cast<off_t>(at)) != static_cast<ssize_t>(wanted)) {
    return std::nullopt;
  }
  uint32_t tag = number(bytes.data(), 2);
  if (tag == kExtensible && wanted == bytes.size()) tag = number(bytes.data() + 24, 2);
  WavFormat format;
  format.channels = static_cast<uint16_t>(number(bytes.data() + 2, 2));
  format.rate = number(bytes.data() + 4, 4);
  format.bits = static_cast<uint16_t>(number(bytes.data() + 14, 2));
  const bool good = tag == kPcm && format.rate > 0 && format.rate <= 1'000'000 &&
                    format.channels > 0 && format.channels <= 64 && format.bits > 0 &&
                    format.bits <= 32 && format.bits % 8 == 0;
  return good ? std::optional(format) : std::nullopt;
}

}  // namespace

std::optional<WavFile> read_wav(const std::filesystem::path& file) {
  const Fd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  const auto end = static_cast<uint64_t>(status.st_size);
  std::array<char, 12> head{};
  if (::pread(fd.get(), head.data(), 12, 0) != 12) return std::nullopt;
  if (std::memcmp(head.data(), "RIFF", 4) != 0 || std::memcmp(&head[8], "WAVE", 4) != 0)
    return std::nullopt;
  std::optional<WavFormat> format;
  uint64_t at = 12;
  for (int piece = 0; piece < kMaxPieces; ++piece) {
    if (::pread(fd.get(), head.data(), 8, static_cast<off_t>(at)) != 8) return std::nullopt;
    const std::string_view name(head.data(), 4);
    const uint32_t size = number(&head[4], 4);
    at += 8;
    if (name == "fmt ") format = read_format(fd.get(), at, size);
    if (name == "data") {
      if (!format) return std::nullopt;
      // A recorder that was cut off, or one without end, leaves a size that is not true.
      const uint64_t bytes = std::min<uint64_t>(size, end - at);
      return WavFile{file, *format, at, bytes - bytes % format->moment_bytes()};
    }
    at += size + size % 2;
    if (at >= end) return std::nullopt;
  }
  return std::nullopt;
}

std::string wav_header(const WavFormat& format, std::optional<uint32_t> size) {
  std::string text = "RIFF";
  append_number(text, size ? *size + 36 : 0xffffffff, 4);
  text += "WAVEfmt ";
  append_number(text, 16, 4);
  append_number(text, kPcm, 2);
  append_number(text, format.channels, 2);
  append_number(text, format.rate, 4);
  append_number(text, format.rate * format.moment_bytes(), 4);
  append_number(text, format.moment_bytes(), 2);
  append_number(text, format.bits, 2);
  text += "data";
  append_number(text, size.value_or(0xffffffff), 4);
  return text;
}

WavTrack::WavTrack(std::vector<WavFile> files) : files_(std::move(files)) {
  for (const WavFile& file : files_) size_ += file.size;
}

/// Turns a position in the track into one in the file that is given.
const WavFile& WavTrack::file_at(uint64_t& position) const {
  for (const WavFile& file : files_) {
    if (position < file.size) return file;
    position -= file.size;
  }
  return files_.back();
}

std::string WavTrack::read(uint64_t begin, size_t size, bool loop) const {
  if (!loop) size = std::min<uint64_t>(size, size_ - std::min(begin, size_));
  std::string bytes(size, '\0');
  for (size_t done = 0; done < size;) {
    uint64_t position = (begin + done) % size_;
    const WavFile& file = file_at(position);
    const size_t wanted = std::min<uint64_t>(size - done, file.size - position);
    const Fd fd(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    (void)!::pread(fd.get(), bytes.data() + done, wanted,
                   static_cast<off_t>(file.begin + position));
    done += wanted;
  }
  return bytes;
}

}  // namespace assay::launch
