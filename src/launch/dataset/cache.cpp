// SPDX-License-Identifier: Apache-2.0
#include "dataset/cache.h"

#include "dataset/sha256.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <assay/base/text.h>

namespace assay::launch {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::json;

constexpr Milliseconds kWaitForLock{100};

Fd open_folder(const fs::path& path) {
  return Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

bool lock(int fd, int how) {
  while (::flock(fd, how) != 0)
    if (errno != EINTR) return false;
  return true;
}

bool is_still_at(int fd, const fs::path& path) {
  struct stat mine {};
  struct stat there {};
  return ::fstat(fd, &mine) == 0 && ::stat(path.c_str(), &there) == 0 &&
         mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

void touch(int fd) {
  ::futimens(fd, nullptr);
}

Result<void> make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    return refused(
        fmt::format("cannot make the folder {}: {}; set ASSAY_CACHE to a folder that "
                    "can be written",
                    path.native(), error.message()));
  }
  return {};
}

/// Removes a folder that nobody uses. It vanishes at once under its name, then bit by bit.
bool remove_unused(const fs::path& path) {
  const Fd fd = open_folder(path);
  if (!fd.valid() || !lock(fd.get(), LOCK_EX | LOCK_NB) || !is_still_at(fd.get(), path))
    return false;
  std::error_code error;
  fs::path gone = path;
  gone += fmt::format(".gone-{}", ::getpid());
  fs::rename(path, gone, error);
  if (error) return false;
  fs::remove_all(gone, error);
  return true;
}

std::string size_text(uint64_t bytes) {
  return format_bytes(static_cast<double>(bytes));
}

struct Item {
  fs::path path;
  Timestamp used;
  uint64_t bytes = 0;
};

uint64_t kept_bytes(const fs::path& path) {
  const auto text = read_file(path / "kept.json", 1U << 20U);
  const Json json = Json::parse(text ? *text : "", nullptr, false);
  if (json.is_object() && json.contains("bytes") && json["bytes"].is_number_unsigned())
    return json["bytes"].get<uint64_t>();
  return bytes_below(path);
}

void collect(const fs::path& folder, std::vector<Item>& items) {
  std::error_code error;
  for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    struct stat status {};
    if (::stat(it->path().c_str(), &status) != 0) continue;
    const auto used =
        std::chrono::seconds(status.st_mtim.tv_sec) + Nanoseconds(status.st_mtim.tv_nsec);
    const uint64_t bytes =
        S_ISDIR(status.st_mode) ? kept_bytes(it->path()) : static_cast<uint64_t>(status.st_size);
    items.push_back({it->path(), Timestamp(used), bytes});
  }
}

}  // namespace

uint64_t bytes_below(const fs::path& path) {
  uint64_t bytes = 0;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(path, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    struct stat status {};
    if (::lstat(it->path().c_str(), &status) == 0 && S_ISREG(status.st_mode))
      bytes += static_cast<uint64_t>(status.st_size);
  }
  return bytes;
}

void WorkFolder::discard() const {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

Result<Cache> Cache::open(const DatasetCache& settings) {
  ASSAY_CHECK(make_folder(settings.folder / "entries"));
  ASSAY_CHECK(make_folder(settings.folder / "work"));
  return Cache(settings);
}

std::optional<Dataset> Cache::find(const std::string& key) const {
  const fs::path folder = entry(key);
  Fd fd = open_folder(folder);
  if (!fd.valid() || !lock(fd.get(), LOCK_SH) || !is_still_at(fd.get(), folder))
    return std::nullopt;
  const auto text = read_file(folder / "kept.json", 1U << 20U);
  const Json json = Json::parse(text ? *text : "", nullptr, false);
  if (!json.is_object()) return std::nullopt;
  touch(fd.get());
  const auto name = json.value("name", std::string());
  return Dataset(name.empty() ? folder / "content" : folder / "content" / name,
                 json.value("digest", std::string()), json.value("bytes", uint64_t{0}),
                 std::move(fd));
}

Result<WorkFolder> Cache::work_on(const std::string& key, const Progress& progress) const {
  const fs::path folder = settings_.folder / "work" / key;
  while (true) {
    ASSAY_CHECK(make_folder(folder));
    Fd fd = open_folder(folder);
    if (!fd.valid() && errno != ENOENT)
      return refused_errno(fmt::format("cannot open {}", folder.native()), errno);
    while (fd.valid() && !lock(fd.get(), LOCK_EX | LOCK_NB)) {
      if (errno != EWOULDBLOCK)
        return refused_errno(fmt::format("cannot lock {}", folder.native()), errno);
      if (!progress(0, std::nullopt)) return fail(stopped_error());
      std::this_thread::sleep_for(kWaitForLock);
    }
    // Whoever worked on it has removed it meanwhile.
    if (!fd.valid() || !is_still_at(fd.get(), folder)) continue;
    touch(fd.get());
    return WorkFolder(folder, std::move(fd));
  }
}

Result<Dataset> Cache::keep(const WorkFolder& work, const std::string& key,
                            const Kept& kept) const {
  const uint64_t bytes = bytes_below(work.content());
  const Json json = {
      {"source", kept.source}, {"digest", kept.digest}, {"name", kept.name}, {"bytes", bytes}};
  const auto text = json.dump(2, ' ', false, Json::error_handler_t::replace);
  ASSAY_CHECK(write_file(work.entry() / "kept.json", text));
  remove_unused(entry(key));  // one that `find` could not read
  Fd fd = open_folder(work.entry());
  // The lock goes along with the folder; a crash of the machine must not leave a name without data.
  if (!fd.valid() || !lock(fd.get(), LOCK_SH) || ::syncfs(fd.get()) != 0 ||
      ::rename(work.entry().c_str(), entry(key).c_str()) != 0) {
    return refused_errno(fmt::format("cannot keep the dataset in {}", settings_.folder.native()),
                         errno);
  }
  touch(fd.get());
  work.discard();
  const fs::path content = entry(key) / "content";
  return Dataset(kept.name.empty() ? content : content / kept.name, kept.digest, bytes,
                 std::move(fd));
}

Result<void> Cache::make_room(uint64_t bytes) const {
  if (bytes > settings_.max_bytes) {
    return refused(fmt::format("the dataset has {}, more than the cache may hold ({})",
                               size_text(bytes), size_text(settings_.max_bytes)));
  }
  if (!evict(bytes)) {
    return refused(
        fmt::format("the dataset cache {} is full of datasets in use; wait until they "
                    "are done",
                    settings_.folder.native()));
  }
  struct statvfs disk {};
  if (::statvfs(settings_.folder.c_str(), &disk) != 0) return {};
  const uint64_t free_bytes = uint64_t{disk.f_bavail} * disk.f_frsize;
  if (bytes <= free_bytes) return {};
  return refused(
      fmt::format("the dataset needs {} and {} has {} left; free some space, or set "
                  "ASSAY_CACHE to a folder elsewhere",
                  size_text(bytes), settings_.folder.native(), size_text(free_bytes)));
}

bool Cache::evict(uint64_t bytes) const {
  return evict_from({settings_.folder / "entries", settings_.folder / "work"}, settings_, bytes,
                    remove_unused);
}

bool evict_from(const std::vector<fs::path>& folders, const DatasetCache& limits, uint64_t bytes,
                const std::function<bool(const fs::path&)>& remove) {
  std::vector<Item> items;
  for (const auto& folder : folders) collect(folder, items);
  std::sort(items.begin(), items.end(),
            [](const auto& a, const auto& b) { return a.used < b.used; });
  uint64_t sum = bytes;
  for (const Item& item : items) sum += item.bytes;
  const Timestamp oldest = SystemClock().wall() - limits.max_age;
  for (const Item& item : items) {
    const bool is_too_old = item.used < oldest;
    if ((is_too_old || sum > limits.max_bytes) && remove(item.path)) sum -= item.bytes;
  }
  return sum <= limits.max_bytes;
}

}  // namespace assay::launch
