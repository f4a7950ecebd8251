// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <assay/launch/dataset.h>

namespace assay::launch {

/// What is kept beside a dataset's content.
struct Kept {
  std::string source;  ///< as it may be shown
  std::string digest;
  std::string name = {};  ///< of the single file in the content; empty: the whole folder
};

/// Where one fetch works, alone: nobody else gets this folder while it is open. What is in it
/// outlives a kill, so that the next fetch can go on.
class WorkFolder {
 public:
  WorkFolder(std::filesystem::path path, Fd lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  const std::filesystem::path& path() const { return path_; }
  /// What becomes the entry: `content/` and the facts about it.
  std::filesystem::path entry() const { return path_ / "entry"; }
  std::filesystem::path content() const { return entry() / "content"; }
  std::filesystem::path part() const { return path_ / "part"; }
  /// Removes all of it.
  void discard() const;

 private:
  std::filesystem::path path_;
  Fd lock_;
};

/// The folder of fetched datasets: `entries/KEY/` are whole and verified, `work/KEY/` are not.
/// Whoever uses one holds a lock on its folder. The time of last use is the folder's.
class Cache {
 public:
  static Result<Cache> open(const DatasetCache& settings);

  std::optional<Dataset> find(const std::string& key) const;
  /// Waits until nobody else works on it.
  Result<WorkFolder> work_on(const std::string& key, const Progress& progress) const;
  /// Gives the work its final name. There must be no entry of that key.
  Result<Dataset> keep(const WorkFolder& work, const std::string& key, const Kept& kept) const;
  /// Makes sure that so many bytes more may come, here and on the disk.
  Result<void> make_room(uint64_t bytes) const;
  /// Removes what is too old, and what was not used for longest until so many bytes more fit in;
  /// false when they do not because of what is in use.
  bool evict(uint64_t bytes) const;
  uint64_t max_bytes() const { return settings_.max_bytes; }

 private:
  explicit Cache(DatasetCache settings) : settings_(std::move(settings)) {}
  std::filesystem::path entry(const std::string& key) const {
    return settings_.folder / "entries" / key;
  }

  DatasetCache settings_;
};

/// Removes what in these folders is too old, and what was not used for longest until so many bytes
/// more fit in; false when they do not because `remove` kept something.
bool evict_from(const std::vector<std::filesystem::path>& folders, const DatasetCache& limits,
                uint64_t bytes, const std::function<bool(const std::filesystem::path&)>& remove);

/// The size of all files below; links are not followed.
uint64_t bytes_below(const std::filesystem::path& path);

}  // namespace assay::launch
