// SPDX-License-Identifier: Apache-2.0
#include "image_input.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/base/letters.h>
#include <assay/infer/child.h>

namespace assay::collect {
namespace fs = std::filesystem;
namespace {

constexpr std::array<float, 3> kMean = {0.485F, 0.456F, 0.406F};
constexpr std::array<float, 3> kDeviation = {0.229F, 0.224F, 0.225F};
constexpr int64_t kLargestSide = 8192;
constexpr int64_t kMostPixels = int64_t{1} << 26U;  ///< of a batch

bool is_image(const fs::path& file) {
  const std::string ending = lower_case(file.extension().native());
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

/// All that a program writes; an error when it does not end well.
Result<std::string> output_of(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return refused_errno("cannot make a pipe", errno);
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  ASSAY_TRY(infer::Child child, infer::Child::start(command, {.output = write_end.get()}));
  write_end.reset();
  std::string text;
  std::array<char, 65536> buffer{};
  for (ssize_t n = 1; n != 0;) {
    n = ::read(read_end.get(), buffer.data(), buffer.size());
    if (n < 0 && errno != EINTR) return refused_errno("cannot read a pipe", errno);
    text.append(buffer.data(), static_cast<size_t>(std::max<ssize_t>(n, 0)));
  }
  if (child.wait() != 0) return bad_input("it cannot be read");
  return text;
}

std::vector<std::string> ffmpeg_command(const fs::path& image, const ImageShape& shape) {
  constexpr double kBeyond = 256.0 / 224.0;
  const auto larger = [&](int64_t side) {
    return std::lround(static_cast<double>(side) * kBeyond);
  };
  const std::string filter =
      fmt::format("scale={}:{}:force_original_aspect_ratio=increase:flags=bilinear,crop={}:{}",
                  larger(shape.width), larger(shape.height), shape.width, shape.height);
  return {"ffmpeg", "-v",       "error",     "-nostdin", "-i",       "file:" + image.native(),
          "-vf",    filter,     "-frames:v", "1",        "-pix_fmt", "rgb24",
          "-f",     "rawvideo", "pipe:1"};
}

/// Nothing when it is no image.
std::optional<std::string> pixels_of(const fs::path& image, const ImageShape& shape) {
  auto pixels = output_of(ffmpeg_command(image, shape));
  if (!pixels || pixels->size() < static_cast<size_t>(shape.height * shape.width * 3))
    return std::nullopt;
  return std::move(*pixels);
}

Result<std::vector<fs::path>> image_files(const fs::path& folder) {
  std::vector<fs::path> images;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (is_image(entry.path())) images.push_back(fs::absolute(entry.path()));
  if (error)
    return bad_input(
        fmt::format("cannot read the folder {}: {}", folder.native(), error.message()));
  if (images.empty()) return bad_input(fmt::format("{} has no .jpg or .png file", folder.native()));
  std::sort(images.begin(), images.end());
  return images;
}

}  // namespace

std::optional<ImageShape> image_shape(const std::vector<int64_t>& dims) {
  if (dims.size() != 4 || (dims[1] != 1 && dims[1] != 3)) return std::nullopt;
  const ImageShape shape{dims[1], dims[2], dims[3], dims[0]};
  const bool usual = shape.height > 0 && shape.height <= kLargestSide && shape.width > 0 &&
                     shape.width <= kLargestSide && shape.batch > 0 && shape.batch <= kMostPixels;
  const bool fits = usual && shape.height * shape.width * shape.batch <= kMostPixels;
  return fits ? std::optional(shape) : std::nullopt;
}

std::vector<float> normalized(std::string_view pixels, const ImageShape& shape) {
  const auto area = static_cast<size_t>(shape.height * shape.width);
  std::vector<float> one(area * 3);
  for (size_t i = 0; i < area; ++i) {
    for (size_t c = 0; c < 3; ++c) {
      const auto value = static_cast<unsigned char>(pixels[i * 3 + c]);
      one[c * area + i] = (static_cast<float>(value) / 255.0F - kMean[c]) / kDeviation[c];
    }
  }
  if (shape.channels == 1) {
    for (size_t i = 0; i < area; ++i) one[i] = (one[i] + one[area + i] + one[2 * area + i]) / 3;
    one.resize(area);
  }
  std::vector<float> all;
  for (int64_t i = 0; i < shape.batch; ++i) all.insert(all.end(), one.begin(), one.end());
  return all;
}

Result<ImageInputs> ImageInputs::open(const fs::path& folder, int turns,
                                      const std::function<bool()>& wanted) {
  ASSAY_TRY(const auto files, image_files(folder));
  const char* path = std::getenv("PATH");
  if (!is_in_path("ffmpeg", path != nullptr ? path : ""))
    return refused(
        "images are read by ffmpeg, which is not installed; install it (apt-get install ffmpeg), "
        "or leave --image-path away");
  ImageInputs found;
  for (const auto& file : files) {
    if (found.images_.size() == static_cast<size_t>(turns)) break;
    if (!wanted()) return refused("interrupted");
    constexpr ImageShape kSmall{3, 8, 8, 1};
    if (pixels_of(file, kSmall))
      found.images_.push_back(file);
    else
      found.bad_.push_back(file.native());
  }
  if (found.images_.empty())
    return bad_input(fmt::format("{} is no image that ffmpeg can read, and there is no other",
                                 found.bad_.front()));
  return found;
}

Result<fs::path> ImageInputs::make(const ImageShape& shape, int turn) {
  const fs::path& image = images_[static_cast<size_t>(turn) % images_.size()];
  const auto pixels = pixels_of(image, shape);
  if (!pixels) return bad_input(fmt::format("{} is no image that ffmpeg can read", image.native()));
  const std::vector<float> values = normalized(*pixels, shape);
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()),
                               values.size() * sizeof(float));
  values_ = Fd(::memfd_create("assay-image", MFD_CLOEXEC));
  if (!values_.valid()) return refused_errno("cannot make a file in memory", errno);
  ASSAY_CHECK(write_all(values_.get(), bytes));
  return fs::path(fmt::format("/proc/{}/fd/{}", ::getpid(), values_.get()));
}

}  // namespace assay::collect
