// SPDX-License-Identifier: Apache-2.0
#include "playback/converter.h"

#include "dataset/cache.h"
#include "playback/ffmpeg.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <initializer_list>
#include <sys/file.h>
#include <sys/stat.h>
#include <utility>

#include <assay/base/files.h>
#include <assay/base/process_id.h>
#include <assay/base/text.h>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;

constexpr size_t kStillsAtOnce = 32;
constexpr std::string_view kPart = "part-";
/// As cameras write them, all alike: some readers cannot follow a change within a stream.
constexpr const char* kPixels = "yuvj420p";
constexpr const char* kWav = "sound.wav";

/// A file in the dataset cannot make ffmpeg open another one: no playlists, no network.
const std::vector<std::string> kOnlyThisFile = {
    "-protocol_whitelist", "file", "-format_whitelist",
    "mov,matroska,avi,mpeg,mpegts,mpegvideo,flv,asf,h264,hevc,mjpeg,gif,mp3,flac,ogg,aac,aiff,wav"};

void append(std::vector<std::string>& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
}

uint64_t hash_of(std::string_view text, uint64_t seed) {
  for (const char c : text) seed = (seed ^ static_cast<uint8_t>(c)) * 1099511628211U;
  return seed;
}

std::string name_of(std::string_view text) {
  return fmt::format("{:016x}{:016x}", hash_of(text, 14695981039346656037U), hash_of(text, 1));
}

/// A folder to work in, gone at the end; its name says whose it is.
class HalfDone {
 public:
  static Result<HalfDone> make(const fs::path& cache) {
    std::string name = cache / fmt::format("{}{}-XXXXXX", kPart, ProcessId::self(SysRoot()).text());
    if (::mkdtemp(name.data()) == nullptr)
      return refused_errno("cannot make a folder in " + cache.string(), errno);
    return HalfDone(name);
  }
  explicit HalfDone(fs::path path) : path_(std::move(path)) {}
  HalfDone(HalfDone&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  HalfDone(const HalfDone&) = delete;
  HalfDone& operator=(const HalfDone&) = delete;
  ~HalfDone() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Another process may have been faster with the same.
Result<void> publish(const fs::path& made, const fs::path& place) {
  std::error_code error;
  fs::rename(made, place, error);
  if (!error || fs::exists(place)) return {};
  return refused(fmt::format("cannot keep {}: {}", place.string(), error.message()));
}

void remove_leftovers(const fs::path& cache) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(cache, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kPart)) continue;
    const std::string owner = name.substr(kPart.size(), name.rfind('-') - kPart.size());
    const auto process = ProcessId::parse(owner);
    if (process && state_of(SysRoot(), *process) == ProcessState::dead) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

bool remove_entry(const fs::path& entry) {
  std::error_code error;
  fs::remove_all(entry, error);
  return !error;
}

/// Whether it was converted before; then it counts as used now.
bool is_kept(const fs::path& place) {
  return ::utimensat(AT_FDCWD, place.c_str(), nullptr, 0) == 0;
}

/// ffmpeg numbers them with eight digits, so that their order by name is the right one.
Result<std::vector<fs::path>> frames_in(const fs::path& folder) {
  std::vector<fs::path> frames;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) frames.push_back(entry.path());
  if (error) return refused(fmt::format("cannot read {}: {}", folder.string(), error.message()));
  std::sort(frames.begin(), frames.end());
  return frames;
}

}  // namespace

Converter::Converter(fs::path cache, Fd in_use, Progress progress, std::stop_token stop)
    : cache_(std::move(cache)),
      in_use_(std::move(in_use)),
      progress_(std::move(progress)),
      stop_(std::move(stop)) {}

Result<Converter> Converter::open(const DatasetCache& cache, Progress progress,
                                  std::stop_token stop) {
  std::error_code error;
  fs::create_directories(cache.folder, error);
  if (error)
    return refused(fmt::format("cannot make {}: {}", cache.folder.string(), error.message()));
  remove_leftovers(cache.folder);
  Fd in_use(::open(cache.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (::flock(in_use.get(), LOCK_EX | LOCK_NB) == 0)
    evict_from({cache.folder}, cache, 0, remove_entry);
  if (::flock(in_use.get(), LOCK_SH) != 0)
    return refused_errno("cannot lock " + cache.folder.string(), errno);
  return Converter(fs::absolute(cache.folder), std::move(in_use), std::move(progress),
                   std::move(stop));
}

/// Where the converted file belongs, by the identity of its content and how it is converted.
Result<fs::path> Converter::place_for(const fs::path& file, std::string_view how) const {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0)
    return refused_errno("cannot read " + file.string(), errno);
  return cache_ / name_of(fmt::format("{} {} {}.{:09} {}", file.string(), status.st_size,
                                      status.st_mtim.tv_sec, status.st_mtim.tv_nsec, how));
}

Result<void> Converter::run(const std::vector<std::string>& arguments, const fs::path& folder,
                            const fs::path& file) const {
  const auto progress = [&](uint64_t frames) {
    if (progress_) progress_(file.string(), frames);
  };
  progress(0);
  auto done = run_ffmpeg(arguments, folder, stop_, progress);
  if (done || stop_.stop_requested()) return done;
  return refused(
      fmt::format("cannot convert {} for playback: {}", file.string(), done.error().message));
}

Result<std::vector<fs::path>> Converter::video(const fs::path& file,
                                               double frames_per_second) const {
  ASSAY_TRY(const fs::path place, place_for(file, fmt::format("video {}", frames_per_second)));
  if (!is_kept(place)) {
    ASSAY_TRY(const HalfDone work, HalfDone::make(cache_));
    std::vector<std::string> arguments = kOnlyThisFile;
    append(arguments,
           {"-i", file.string(), "-map", "0:v:0", "-vf", fmt::format("fps={}", frames_per_second),
            "-q:v", "3", "-pix_fmt", kPixels, "%08d.jpg"});
    ASSAY_CHECK(run(arguments, work.path(), file));
    ASSAY_CHECK(publish(work.path(), place));
  }
  return frames_in(place);
}

Result<void> Converter::convert_stills(std::span<const fs::path> files,
                                       std::span<const fs::path> places) const {
  ASSAY_TRY(const HalfDone work, HalfDone::make(cache_));
  std::vector<std::string> arguments;
  for (const fs::path& file : files) {
    // A "%" in a name is no pattern.
    append(arguments, {"-f", "image2", "-pattern_type", "none", "-i", file.string()});
  }
  for (size_t i = 0; i < files.size(); ++i) {
    append(arguments, {"-map", fmt::format("{}:v:0", i), "-frames:v", "1", "-q:v", "3", "-pix_fmt",
                       kPixels, "-update", "1", fmt::format("{}.jpg", i)});
  }
  ASSAY_CHECK(run(arguments, work.path(), files.front()));
  for (size_t i = 0; i < files.size(); ++i) {
    ASSAY_CHECK(publish(work.path() / fmt::format("{}.jpg", i), places[i]));
  }
  return {};
}

/// One that is broken must not cost the others: then each is tried alone.
Result<void> Converter::convert_good_stills(std::span<const fs::path> files,
                                            std::span<const fs::path> places) const {
  ASSAY_CHECK(find_ffmpeg());
  if (convert_stills(files, places)) return {};
  for (size_t i = 0; i < files.size(); ++i) {
    auto done = convert_stills(files.subspan(i, 1), places.subspan(i, 1));
    if (!done && stop_.stop_requested()) return done;
  }
  return {};
}

Result<std::vector<fs::path>> Converter::stills(std::span<const fs::path> files) const {
  std::vector<fs::path> places;
  std::vector<fs::path> missing;
  std::vector<fs::path> missing_places;
  for (const fs::path& file : files) {
    ASSAY_TRY(fs::path place, place_for(file, "still"));
    place += ".jpg";
    places.push_back(place);
    if (is_kept(place)) continue;
    missing.push_back(file);
    missing_places.push_back(place);
  }
  for (size_t i = 0; i < missing.size(); i += kStillsAtOnce) {
    const size_t count = std::min(kStillsAtOnce, missing.size() - i);
    ASSAY_CHECK(convert_good_stills(std::span(missing).subspan(i, count),
                                    std::span(missing_places).subspan(i, count)));
  }
  return places;
}

Result<fs::path> Converter::sound(const fs::path& file) const {
  ASSAY_TRY(fs::path place, place_for(file, "sound"));
  place += ".wav";
  if (is_kept(place)) return place;
  ASSAY_TRY(const HalfDone work, HalfDone::make(cache_));
  std::vector<std::string> arguments = kOnlyThisFile;
  append(arguments, {"-i", file.string(), "-map", "0:a:0", "-c:a", "pcm_s16le", kWav});
  ASSAY_CHECK(run(arguments, work.path(), file));
  ASSAY_CHECK(publish(work.path() / kWav, place));
  return place;
}

}  // namespace assay::launch
