// SPDX-License-Identifier: Apache-2.0
#include "playback/converter.h"

#include "dataset/cache.h"
#include "playback/ffmpeg.h"
#include "playback/frame_file.h"
#include "playback/wav.h"
#include "process/testing.h"

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;

class Converting : public ::testing::Test {
 protected:
  /// Has ffmpeg make a file in the folder.
  fs::path make(const std::vector<std::string>& arguments) {
    const auto made = run_ffmpeg(arguments, folder_.path(), {}, {});
    EXPECT_TRUE(made) << made.error().message;
    return folder_.path() / arguments.back();
  }
  fs::path make_video(const std::string& seconds = "1") {
    return make(
        {"-y", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=10:duration=" + seconds, "clip.avi"});
  }
  Converter converter(std::stop_token stop = {}) {
    return *Converter::open(
        limits_,
        [this](const std::string& file, uint64_t) { told_.push_back(fs::path(file).filename()); },
        std::move(stop));
  }
  fs::path cache() const { return folder_.path() / "cache"; }
  size_t in_cache() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(cache()), fs::directory_iterator()));
  }

  testing::TempFolder folder_;
  DatasetCache limits_ = [this] {
    DatasetCache limits;
    limits.folder = cache();
    return limits;
  }();
  std::vector<std::string> told_;
};

TEST_F(Converting, gives_a_video_as_many_frames_as_a_camera_would) {
  const fs::path clip = make_video("2");
  const auto frames = converter().video(clip, 5);
  ASSERT_TRUE(frames) << frames.error().message;
  EXPECT_EQ(frames->size(), 10U);
  EXPECT_TRUE(std::all_of(frames->begin(), frames->end(), is_whole_jpeg));
  EXPECT_EQ(told_.front(), "clip.avi");
  EXPECT_EQ(in_cache(), 1U);
}

TEST_F(Converting, converts_a_file_once_for_as_long_as_it_stays_the_same) {
  const fs::path clip = make_video();
  const auto first = converter().video(clip, 10);
  told_.clear();
  const auto again = converter().video(clip, 10);
  EXPECT_EQ(*again, *first);
  EXPECT_TRUE(told_.empty());
  const auto other_rate = converter().video(clip, 5);
  EXPECT_EQ(other_rate->size(), 5U);
  make_video("3");
  const auto changed = converter().video(clip, 10);
  EXPECT_EQ(changed->size(), 30U);
}

/// As if it was used last so long ago.
void set_age(const fs::path& path, std::chrono::hours age) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - age);
}

TEST_F(Converting, keeps_the_cache_within_its_age) {
  const fs::path clip = make_video();
  const fs::path old = converter().video(clip, 10)->front().parent_path();
  const fs::path young = converter().video(clip, 5)->front().parent_path();
  set_age(old, std::chrono::hours(91 * 24));
  set_age(young, std::chrono::hours(89 * 24));
  (void)converter();
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
}

TEST_F(Converting, what_is_used_again_is_young_again) {
  const fs::path clip = make_video();
  const fs::path frames = converter().video(clip, 10)->front().parent_path();
  set_age(frames, std::chrono::hours(89 * 24));
  (void)converter().video(clip, 10);
  limits_.max_age = std::chrono::hours(24);
  (void)converter();
  EXPECT_TRUE(fs::exists(frames));
}

TEST_F(Converting, keeps_the_cache_within_its_size_the_longest_unused_goes_first) {
  const fs::path clip = make_video();
  const fs::path first = converter().video(clip, 10)->front().parent_path();
  const fs::path second = converter().video(clip, 5)->front().parent_path();
  set_age(first, std::chrono::hours(1));
  set_age(second, std::chrono::hours(2));
  folder_.write("cache/still.jpg", std::string(100'000, 'x'));
  limits_.max_bytes = 100'000 + bytes_below(first);
  (void)converter();
  EXPECT_TRUE(fs::exists(first));
  EXPECT_FALSE(fs::exists(second));
}

TEST_F(Converting, never_removes_what_another_one_gave) {
  const Converter living = converter();
  const fs::path frames = living.video(make_video(), 10)->front().parent_path();
  set_age(frames, std::chrono::hours(91 * 24));
  (void)converter();
  EXPECT_TRUE(fs::exists(frames));
}

TEST_F(Converting, turns_stills_into_jpegs_and_leaves_out_what_is_broken) {
  const fs::path good = make(
      {"-f", "lavfi", "-i", "testsrc=size=64x48", "-frames:v", "1", "-update", "1", "50%03d.png"});
  folder_.write("broken.png", "no picture");
  const std::vector<fs::path> files = {folder_.path() / "broken.png", good};
  const auto frames = converter().stills(files);
  ASSERT_TRUE(frames) << frames.error().message;
  ASSERT_EQ(frames->size(), 2U);
  EXPECT_FALSE(fs::exists(frames->at(0)));
  EXPECT_TRUE(is_whole_jpeg(frames->at(1)));
}

TEST_F(Converting, turns_sound_into_wav) {
  const fs::path flac =
      make({"-f", "lavfi", "-i", "sine=sample_rate=8000:duration=1", "tone.flac"});
  const auto wav = converter().sound(flac);
  ASSERT_TRUE(wav) << wav.error().message;
  EXPECT_EQ(read_wav(*wav)->size, 16000U);
}

TEST_F(Converting, says_which_file_is_none) {
  folder_.write("broken.mp4", "no video");
  const auto frames = converter().video(folder_.path() / "broken.mp4", 10);
  ASSERT_FALSE(frames);
  EXPECT_NE(frames.error().message.find("broken.mp4"), std::string::npos);
  EXPECT_EQ(in_cache(), 0U);
}

TEST_F(Converting, opens_no_file_that_another_names) {
  make_video();
  folder_.write("list.mp4", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n" +
                                (folder_.path() / "clip.avi").string() + "\n#EXT-X-ENDLIST\n");
  EXPECT_FALSE(converter().video(folder_.path() / "list.mp4", 10));
}

TEST_F(Converting, stops_when_asked_to_and_leaves_nothing) {
  const fs::path clip = make_video();
  std::stop_source stop;
  stop.request_stop();
  const auto frames = converter(stop.get_token()).video(clip, 10);
  ASSERT_FALSE(frames);
  EXPECT_NE(frames.error().message.find("stopped while converting"), std::string::npos);
  EXPECT_EQ(in_cache(), 0U);
}

TEST_F(Converting, removes_what_a_dead_process_left_half_done) {  // here, one of another boot
  fs::create_directories(cache() / "part-1.1.1.00000000-0000-0000-0000-000000000000-abcdef");
  fs::create_directories(cache() / "other");
  converter();
  EXPECT_EQ(in_cache(), 1U);
  EXPECT_TRUE(fs::exists(cache() / "other"));
}

TEST_F(Converting, says_how_to_get_ffmpeg) {
  const char* const path = std::getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  ::setenv("PATH", "/nowhere", 1);
  folder_.write("a.mp4", "x");
  const auto frames = converter().video(folder_.path() / "a.mp4", 10);
  ::setenv("PATH", before.c_str(), 1);
  ASSERT_FALSE(frames);
  EXPECT_NE(frames.error().message.find("apt install ffmpeg"), std::string::npos);
}

}  // namespace
}  // namespace assay::launch
