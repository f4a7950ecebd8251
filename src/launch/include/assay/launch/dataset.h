// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <assay/base/files.h>
#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::launch {

/// A folder, a file, an archive (.tar, .tar.gz, .tar.xz, .tar.zst, .zip), an https:// address of a
/// file or archive (http:// only on this machine), or s3://bucket/prefix.
struct DatasetSource {
  std::string source;
  std::string sha256 = {};  ///< of the file or archive; empty: not given
};

/// Where fetched datasets stay. Several processes may share one.
struct DatasetCache {
  std::filesystem::path folder;
  uint64_t max_bytes = 20'000'000'000;
  Nanoseconds max_age = std::chrono::hours(90 * 24);  ///< since the last use
};

/// $ASSAY_CACHE/datasets, else $XDG_CACHE_HOME/assay/datasets, else ~/.cache/assay/datasets.
DatasetCache default_dataset_cache();

/// Called several times a second, also while nothing comes, with the bytes that are there by now;
/// false stops the fetch, which can go on later where it was.
using Progress = std::function<bool(uint64_t done, std::optional<uint64_t> total)>;

/// A dataset on this machine. While it lives, the cache keeps it.
class Dataset {
 public:
  Dataset(std::filesystem::path path, std::string digest, uint64_t bytes, Fd in_use)
      : path_(std::move(path)),
        digest_(std::move(digest)),
        bytes_(bytes),
        in_use_(std::move(in_use)) {}

  /// A folder, or the file when the source is a single one.
  const std::filesystem::path& path() const { return path_; }
  /// SHA-256 of the file or archive; of the list of objects for S3; empty for a folder, and for a
  /// file of this machine without a checksum.
  const std::string& digest() const { return digest_; }
  /// Of all files; 0 for a folder that was not fetched.
  uint64_t bytes() const { return bytes_; }

 private:
  std::filesystem::path path_;
  std::string digest_;
  uint64_t bytes_;
  Fd in_use_;
};

/// Gives what the cache has or fetches it: resumed where an earlier try was cut off, verified, and
/// only then given its name. With a checksum the cache answers without the network; without one
/// the server is asked whether it has changed. Who wants the same at the same time waits.
Result<Dataset> fetch_dataset(const DatasetSource& source, const DatasetCache& cache,
                              const Progress& progress);

/// What can be told about it without the network and without reading it.
Result<void> check_dataset(const DatasetSource& source);

}  // namespace assay::launch
