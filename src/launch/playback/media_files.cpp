// SPDX-License-Identifier: Apache-2.0
#include "playback/media_files.h"

#include "playback/natural_order.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fnmatch.h>
#include <string_view>
#include <utility>

#include <assay/base/letters.h>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, Media>, 36> kEndings = {{
    {".jpg", Media::jpeg},    {".jpeg", Media::jpeg},  {".jpe", Media::jpeg},
    {".wav", Media::wav},     {".png", Media::still},  {".bmp", Media::still},
    {".tif", Media::still},   {".tiff", Media::still}, {".webp", Media::still},
    {".ppm", Media::still},   {".pgm", Media::still},  {".mp4", Media::video},
    {".m4v", Media::video},   {".avi", Media::video},  {".mkv", Media::video},
    {".mov", Media::video},   {".webm", Media::video}, {".mpg", Media::video},
    {".mpeg", Media::video},  {".ts", Media::video},   {".flv", Media::video},
    {".wmv", Media::video},   {".3gp", Media::video},  {".mjpg", Media::video},
    {".mjpeg", Media::video}, {".h264", Media::video}, {".h265", Media::video},
    {".gif", Media::video},   {".mp3", Media::sound},  {".flac", Media::sound},
    {".ogg", Media::sound},   {".opus", Media::sound}, {".m4a", Media::sound},
    {".aac", Media::sound},   {".aiff", Media::sound}, {".wma", Media::sound},
}};

bool fits(StreamKind kind, Media media) {
  if (media == Media::other) return false;
  const bool sound = media == Media::wav || media == Media::sound;
  return sound == (kind == StreamKind::audio);
}

bool is_within(const fs::path& file, const fs::path& folder) {
  const auto [end, unused] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end();
}

/// `asked` without "./" in front and "/" behind.
std::string tidy(const std::string& asked) {
  std::string text = asked.empty() ? "" : fs::path(asked).lexically_normal().generic_string();
  while (!text.empty() && text.back() == '/') text.pop_back();
  return text == "." ? "" : text;
}

bool is_asked_for(const std::string& asked, const std::string& name) {
  if (asked.empty() || name == asked || name.starts_with(asked + '/')) return true;
  return ::fnmatch(asked.c_str(), name.c_str(), FNM_PATHNAME) == 0;
}

/// Names relative to the dataset of all its regular files.
Result<std::vector<std::string>> all_files(const fs::path& root) {
  std::error_code error;
  if (fs::is_regular_file(root, error)) return std::vector<std::string>{""};
  fs::recursive_directory_iterator entries(root, fs::directory_options::skip_permission_denied,
                                           error);
  if (error)
    return refused(fmt::format("cannot read the dataset {}: {}", root.string(), error.message()));
  std::vector<std::string> names;
  for (; entries != fs::recursive_directory_iterator(); entries.increment(error)) {
    if (error)
      return refused(fmt::format("cannot read the dataset {}: {}", root.string(), error.message()));
    std::error_code gone;
    if (entries->is_regular_file(gone))
      names.push_back(entries->path().lexically_relative(root).generic_string());
  }
  return names;
}

}  // namespace

Media media_of(const fs::path& file) {
  const std::string ending = lower_case(file.extension().string());
  for (const auto& [known, media] : kEndings) {
    if (known == ending) return media;
  }
  return Media::other;
}

Result<std::vector<MediaFile>> find_media(const Stream& stream, const fs::path& dataset) {
  std::error_code error;
  const fs::path root = fs::canonical(dataset, error);
  if (error)
    return bad_input(fmt::format("no dataset at {}: {}", dataset.string(), error.message()));
  ASSAY_TRY(std::vector<std::string> names, all_files(root));
  std::sort(names.begin(), names.end(), natural_less);
  std::vector<MediaFile> found;
  const std::string asked = tidy(stream.files);
  for (const std::string& name : names) {
    const fs::path file = name.empty() ? root : root / name;
    const Media media = media_of(file);
    if (!fits(stream.kind, media)) continue;
    if (!is_asked_for(asked, name.empty() ? root.filename().string() : name)) continue;
    const fs::path real = fs::canonical(file, error);
    if (!error && is_within(real, root)) found.push_back({real, media});
  }
  if (found.empty()) {
    return bad_input(fmt::format(
        "stream '{}' has nothing to play: no {} in {}{}", stream.id,
        stream.kind == StreamKind::audio ? "sound" : "picture or video", dataset.string(),
        asked.empty() ? "" : fmt::format(" is named by '{}'", stream.files)));
  }
  return found;
}

}  // namespace assay::launch
