// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <assay/base/mutex.h>
#include <assay/base/result.h>
#include <assay/model/workload.h>
#include <assay/net/http_server.h>

namespace assay::serve {

/// A model that a caller has sent.
struct Uploaded {
  std::string id;  ///< of the file, for later calls
  std::string name;
  std::filesystem::path file;
  model::Characteristics model;
};

/// The folder of models that callers have sent, bounded in bytes: the oldest make room. Bodies
/// of requests are written to it as well, and are gone when they have been read. Thread-safe.
class Uploads {
 public:
  Uploads(std::filesystem::path folder, uint64_t most_bytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  /// Makes the folder, for its owner alone, and removes what a crash has left in it.
  Result<void> open() const;
  const std::filesystem::path& folder() const { return folder_; }

  /// Keeps a model whose bytes are in `data`, and reads it. What is no model is not kept.
  Result<Uploaded> add(std::string_view filename, std::string_view data);
  /// One that was sent before; an error when it is none, or has made room for others.
  Result<Uploaded> find(const std::string& id);

 private:
  Result<Uploaded> read(const std::filesystem::path& file) const;
  Result<void> make_room(uint64_t bytes);

  const std::filesystem::path folder_;
  const uint64_t most_bytes_;
  Mutex mutex_;  ///< of the folder
};

}  // namespace assay::serve
