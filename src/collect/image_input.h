// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>

namespace assay::collect {

/// Height and width, and one channel or three, of a tensor that takes an image: 1x3x224x224.
struct ImageShape {
  int64_t channels = 0;
  int64_t height = 0;
  int64_t width = 0;
  int64_t batch = 0;

  bool operator==(const ImageShape&) const = default;
};
std::optional<ImageShape> image_shape(const std::vector<int64_t>& dims);

/// What is put into a model from bytes of red, green and blue: 0 to 1, less the mean and over the
/// deviation of ImageNet's channels, channel after channel; one channel is their mean. Every image
/// of a batch is the same.
std::vector<float> normalized(std::string_view pixels, const ImageShape& shape);

/// Real images as a model's first input: resized so that the shorter side is 256/224 of the input,
/// centre-cropped, and normalized. Read by ffmpeg.
class ImageInputs {
 public:
  /// Looks for as many images as there are turns, and leaves out files that are none. An error when
  /// there is no image, or ffmpeg is not there, or it is no longer wanted.
  static Result<ImageInputs> open(const std::filesystem::path& folder, int turns,
                                  const std::function<bool()>& wanted);
  const std::vector<std::string>& bad() const { return bad_; }

  /// A file in memory of float32 values, made of the image whose turn it is; valid until the next.
  Result<std::filesystem::path> make(const ImageShape& shape, int turn);

 private:
  ImageInputs() = default;
  std::vector<std::filesystem::path> images_;
  std::vector<std::string> bad_;
  Fd values_;
};

}  // namespace assay::collect
