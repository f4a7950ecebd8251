// SPDX-License-Identifier: Apache-2.0
#include "image_input.h"

#include <cmath>

#include <gtest/gtest.h>

namespace assay::collect {
namespace {

TEST(ImageInput, only_four_sizes_with_one_or_three_channels_are_an_image) {
  EXPECT_EQ(image_shape({1, 3, 224, 200}), (ImageShape{3, 224, 200, 1}));
  EXPECT_EQ(image_shape({2, 1, 28, 28}), (ImageShape{1, 28, 28, 2}));
  EXPECT_FALSE(image_shape({1, 128}));
  EXPECT_FALSE(image_shape({1, 224, 224, 3}));
  EXPECT_FALSE(image_shape({1, 3, 0, 224}));
  EXPECT_FALSE(image_shape({1, 3, int64_t{1} << 40U, 224}));
  EXPECT_TRUE(image_shape({1, 3, 8192, 8192}));
  EXPECT_FALSE(image_shape({2, 3, 8192, 8192})) << "a batch of gigabytes";
}

TEST(ImageInput, is_normalized_channel_after_channel) {
  const std::string pixels("\xFF\x00\x00\x00\xFF\x00", 6);  // red beside green
  const auto values = normalized(pixels, {3, 1, 2, 2});
  ASSERT_EQ(values.size(), 12U);
  EXPECT_NEAR(values[0], (1 - 0.485) / 0.229, 1e-5);
  EXPECT_NEAR(values[1], -0.485 / 0.229, 1e-5);
  EXPECT_NEAR(values[2], -0.456 / 0.224, 1e-5);
  EXPECT_NEAR(values[3], (1 - 0.456) / 0.224, 1e-5);
  EXPECT_EQ(values[6], values[0]);  // the second of the batch
  EXPECT_EQ(normalized(pixels, {1, 1, 2, 1}).size(), 2U);
}

TEST(ImageInput, a_folder_without_images_is_refused) {
  const auto none = ImageInputs::open(ASSAY_SOURCE_DIR "/docs", 1, [] { return true; });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::input);
  EXPECT_FALSE(ImageInputs::open("/nowhere", 1, [] { return true; }));
}

}  // namespace
}  // namespace assay::collect
