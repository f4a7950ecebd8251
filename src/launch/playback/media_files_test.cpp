// SPDX-License-Identifier: Apache-2.0
#include "playback/media_files.h"

#include "process/testing.h"

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

class FindMedia : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"data/cam1/f10.jpg", "data/cam1/f2.JPG", "data/cam1/notes.txt", "data/cam2/a.png",
          "data/cam2/deep/b.mp4", "data/mic/one.wav", "data/mic/two.flac", "secret/s.jpg"}) {
      folder_.write(name, "x");
    }
  }
  std::string found(const std::string& files, StreamKind kind = StreamKind::video,
                    const std::string& dataset = "data") {
    const auto media = find_media({"top", files, kind}, folder_.path() / dataset);
    if (!media) return media.error().message;
    std::string names;
    for (const MediaFile& file : *media) names += file.path.filename().string() + ' ';
    return names;
  }
  testing::TempFolder folder_;
};

TEST_F(FindMedia, gives_all_that_fits_in_natural_order) {
  EXPECT_EQ(found(""), "f2.JPG f10.jpg a.png b.mp4 ");
  EXPECT_EQ(found("", StreamKind::audio), "one.wav two.flac ");
}

TEST_F(FindMedia, takes_a_file_a_folder_or_a_pattern) {
  EXPECT_EQ(found("cam1/f10.jpg"), "f10.jpg ");
  EXPECT_EQ(found("./cam2/"), "a.png b.mp4 ");
  EXPECT_EQ(found("cam*/*.??g"), "f10.jpg a.png ");
  EXPECT_EQ(found("*.jpg", StreamKind::image, "data/cam1"), "f10.jpg ");
}

TEST_F(FindMedia, takes_a_dataset_of_one_file) {
  EXPECT_EQ(found("", StreamKind::video, "data/cam2/deep/b.mp4"), "b.mp4 ");
  EXPECT_EQ(found("b.mp4", StreamKind::video, "data/cam2/deep/b.mp4"), "b.mp4 ");
}

TEST_F(FindMedia, says_when_there_is_nothing_to_play) {
  EXPECT_NE(found("cam3").find("stream 'top' has nothing to play: no picture or video in"),
            std::string::npos);
  EXPECT_NE(found("cam3").find("is named by 'cam3'"), std::string::npos);
  EXPECT_NE(found("cam1", StreamKind::audio).find("no sound in"), std::string::npos);
  EXPECT_NE(found("", StreamKind::video, "nowhere").find("no dataset at"), std::string::npos);
}

TEST_F(FindMedia, never_leaves_the_dataset) {
  const auto link = folder_.path() / "data/cam1/f3.jpg";
  std::filesystem::create_symlink(folder_.path() / "secret/s.jpg", link);
  EXPECT_EQ(found("cam1"), "f2.JPG f10.jpg ");
  EXPECT_NE(found("../secret").find("nothing to play"), std::string::npos);
  EXPECT_NE(found((folder_.path() / "secret").string()).find("nothing to play"), std::string::npos);
}

}  // namespace
}  // namespace assay::launch
