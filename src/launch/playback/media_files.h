// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/samples/records.h>

namespace assay::launch {

enum class Media : uint8_t {
  jpeg,
  wav,
  still,  ///< another picture
  video,
  sound,  ///< another sound
  other,
};

/// By the name's ending.
Media media_of(const std::filesystem::path& file);

struct MediaFile {
  std::filesystem::path path;
  Media media = Media::other;
};

/// The files of the dataset (a folder, or a single file) that the stream plays, in natural order.
/// `stream.files` names a file, a folder or a pattern (`cam1/*.jpg`) in it. Nothing outside the
/// dataset is ever given, whatever links lead there. To find none is an error.
Result<std::vector<MediaFile>> find_media(const Stream& stream,
                                          const std::filesystem::path& dataset);

}  // namespace assay::launch
