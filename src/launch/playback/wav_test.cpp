// SPDX-License-Identifier: Apache-2.0
#include "playback/wav.h"

#include "process/testing.h"

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

constexpr WavFormat kMono = {8000, 1, 16};

class Wav : public ::testing::Test {
 protected:
  std::optional<WavFile> read(const std::string& content) {
    const std::string name = std::to_string(++files_) + ".wav";
    folder_.write(name, content);
    return read_wav(folder_.path() / name);
  }
  testing::TempFolder folder_;
  int files_ = 0;
};

TEST_F(Wav, reads_what_it_writes) {
  const auto wav = read(wav_header(kMono, 6) + "abcdef" + "behind");
  ASSERT_TRUE(wav);
  EXPECT_EQ(wav->format, kMono);
  EXPECT_EQ(wav->begin, 44U);
  EXPECT_EQ(wav->size, 6U);
}

TEST_F(Wav, goes_by_the_file_when_its_size_is_not_told) {
  const auto wav = read(wav_header(kMono, std::nullopt) + "abcdefg");
  ASSERT_TRUE(wav);
  EXPECT_EQ(wav->size, 6U) << "whole moments only";
}

TEST_F(Wav, skips_other_pieces) {
  std::string text = wav_header(kMono, 2);
  text.insert(12, std::string("LIST\x03\0\0\0abc\0", 12));
  const auto wav = read(text + "xy");
  ASSERT_TRUE(wav);
  EXPECT_EQ(wav->begin, 56U);
}

TEST_F(Wav, takes_nothing_else) {
  const std::string good = wav_header(kMono, 2) + "xy";
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("RIFF"));
  for (const size_t length : {11U, 19U, 30U, 43U})
    EXPECT_FALSE(read(good.substr(0, length))) << length;
  for (const size_t byte : {0U, 8U, 20U}) {
    std::string bad = good;
    bad[byte] = 'x';
    EXPECT_FALSE(read(bad)) << byte;
  }
  EXPECT_FALSE(read(wav_header({8000, 0, 16}, 2) + "xy"));
  EXPECT_FALSE(read(wav_header({0, 1, 16}, 2) + "xy"));
  EXPECT_FALSE(read(wav_header({8000, 1, 12}, 2) + "xy"));
  EXPECT_FALSE(read_wav(folder_.path() / "none.wav"));
}

TEST_F(Wav, plays_one_file_behind_the_other_and_again) {
  const WavTrack track({*read(wav_header(kMono, 4) + "abcd"), *read(wav_header(kMono, 2) + "ef")});
  EXPECT_EQ(track.size(), 6U);
  EXPECT_EQ(track.read(2, 4, false), "cdef");
  EXPECT_EQ(track.read(4, 100, false), "ef");
  EXPECT_EQ(track.read(6, 2, false), "");
  EXPECT_EQ(track.read(4, 10, true), "efabcdefab");
  EXPECT_EQ(track.read(6'000'004, 2, true), "ef");
}

TEST_F(Wav, is_silent_where_a_file_is_gone) {
  const auto wav = read(wav_header(kMono, 4) + "abcd");
  const WavTrack track({*wav});
  std::filesystem::remove(wav->path);
  EXPECT_EQ(track.read(0, 4, false), std::string(4, '\0'));
}

}  // namespace
}  // namespace assay::launch
