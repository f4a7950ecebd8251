// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>
#include <assay/launch/dataset.h>

namespace assay::launch {

/// Turns media into JPEGs and WAVs in a cache folder, by ffmpeg. What was converted once is found
/// again for as long as the file stays the same. A result appears whole or not at all, also when
/// two processes convert the same file; what a killed one left half done is removed by the next.
/// Opening it brings the folder back within its limits of size and age, unless another one lives:
/// what it gave stays for as long as it lives itself.
class Converter {
 public:
  using Progress = std::function<void(const std::string& file, uint64_t frames)>;
  static Result<Converter> open(const DatasetCache& cache, Progress progress, std::stop_token stop);

  /// A JPEG for each frame that a camera of this rate would have taken.
  Result<std::vector<std::filesystem::path>> video(const std::filesystem::path& file,
                                                   double frames_per_second) const;
  /// A JPEG for each picture; where one cannot be read, there is no file at its place.
  Result<std::vector<std::filesystem::path>> stills(
      std::span<const std::filesystem::path> files) const;
  /// A WAV file.
  Result<std::filesystem::path> sound(const std::filesystem::path& file) const;

 private:
  Converter(std::filesystem::path cache, Fd in_use, Progress progress, std::stop_token stop);
  Result<std::filesystem::path> place_for(const std::filesystem::path& file,
                                          std::string_view how) const;
  Result<void> convert_stills(std::span<const std::filesystem::path> files,
                              std::span<const std::filesystem::path> places) const;
  Result<void> convert_good_stills(std::span<const std::filesystem::path> files,
                                   std::span<const std::filesystem::path> places) const;
  Result<void> run(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                   const std::filesystem::path& file) const;

  std::filesystem::path cache_;
  Fd in_use_;
  Progress progress_;
  std::stop_token stop_;
};

}  // namespace assay::launch
