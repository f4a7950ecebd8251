// SPDX-License-Identifier: Apache-2.0
#include "playback/frame_file.h"

#include "process/testing.h"

#include <string>
#include <string_view>
#include <sys/stat.h>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

const std::string kBody = std::string("\xff\xd8\xff\xe0") + std::string(2000, 'x');

TEST(WholeJpeg, has_a_begin_and_an_end) {
  const testing::TempFolder folder;
  const auto whole = [&](const std::string& content) {
    folder.write("f.jpg", content);
    return is_whole_jpeg(folder.path() / "f.jpg");
  };
  EXPECT_TRUE(whole(kBody + "\xff\xd9"));
  EXPECT_TRUE(whole(kBody + "\xff\xd9" + std::string(100, '\0'))) << "padded";
  EXPECT_TRUE(whole("\xff\xd8\xff\xd9")) << "the shortest";
  EXPECT_FALSE(whole(kBody)) << "cut off";
  EXPECT_FALSE(whole(kBody + "\xff\xd9" + std::string(1000, 'x'))) << "ends in something else";
  EXPECT_FALSE(whole("x" + kBody + "\xff\xd9"));
  EXPECT_FALSE(whole(""));
  EXPECT_FALSE(is_whole_jpeg(folder.path() / "none.jpg"));
  EXPECT_FALSE(is_whole_jpeg(folder.path()));
}

TEST(WholeJpeg, does_not_wait_for_a_pipe) {
  const testing::TempFolder folder;
  const auto pipe = folder.path() / "pipe.jpg";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(is_whole_jpeg(pipe));
  EXPECT_EQ(FrameFile::map(pipe), nullptr);
}

TEST(FrameFile, has_the_bytes_of_the_file) {
  const testing::TempFolder folder;
  folder.write("f.jpg", kBody);
  const auto frame = FrameFile::map(folder.path() / "f.jpg");
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(std::string_view(static_cast<const char*>(frame->data()), frame->size()), kBody);
  folder.write("empty.jpg", "");
  EXPECT_EQ(FrameFile::map(folder.path() / "empty.jpg"), nullptr);
  EXPECT_EQ(FrameFile::map(folder.path() / "none.jpg"), nullptr);
}

}  // namespace
}  // namespace assay::launch
