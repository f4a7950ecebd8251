// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include <assay/base/files.h>
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
  model::Characteristics model;  ///< but its inputs, which may be many
};

/// The folder of models that callers have sent, bounded in bytes: one half is for models, of which
/// the oldest make room, the other for what is on its way, so that neither can take the other's
/// place. Only files that it has made itself are touched. Thread-safe.
class Uploads {
 public:
  /// A caller may send `most_at_once` models at a time.
  Uploads(std::filesystem::path folder, uint64_t most_bytes, size_t most_at_once = SIZE_MAX)
      : folder_(std::move(folder)), half_(most_bytes / 2), most_at_once_(most_at_once) {}

  /// Makes the folder, for its owner alone, and removes bodies that a crash has left. Fails while
  /// another service has it.
  Result<void> open();
  const std::filesystem::path& folder() const { return folder_; }

  /// What is done with a request that sends a model: its body goes to a file, and takes room as it
  /// comes, so that nobody has any by promising much. Refused when it is too large, or when too
  /// much is being sent already, by all or by its caller.
  net::RequestPlan plan(const net::ServerRequest& head, uint64_t largest,
                        const net::HttpServer::Refuse& refuse);

  /// Keeps a model whose bytes are in `data`. What is no model is not kept, and makes no room.
  Result<Uploaded> add(std::string_view filename, std::string_view data);
  /// One that was sent before; an error when it is none, or has made room for others.
  Result<Uploaded> find(const std::string& id);
  /// The same read from its file, with its inputs.
  Result<Uploaded> read(const std::string& id) const;
  void remove(const Uploaded& uploaded);

 private:
  class Sent;

  std::filesystem::path incoming() const { return folder_ / "incoming"; }
  Result<void> make_room(uint64_t bytes) ASSAY_REQUIRES(mutex_);
  void remember(const Uploaded& uploaded) ASSAY_REQUIRES(mutex_);

  const std::filesystem::path folder_;
  const uint64_t half_;
  const size_t most_at_once_;
  Fd lock_;
  Mutex mutex_;
  uint64_t being_sent_ ASSAY_GUARDED_BY(mutex_) = 0;
  uint64_t being_written_ ASSAY_GUARDED_BY(mutex_) = 0;  ///< of models that have their room
  std::map<std::string, size_t> senders_ ASSAY_GUARDED_BY(mutex_);
  /// What has been read of models, so that nobody waits for a file.
  std::map<std::string, Uploaded> known_ ASSAY_GUARDED_BY(mutex_);
};

/// Removes the file of a request's body when it is gone.
class BodyRemoved {
 public:
  explicit BodyRemoved(const net::ServerRequest& request) : file_(request.body_file) {}
  BodyRemoved(const BodyRemoved&) = delete;
  BodyRemoved& operator=(const BodyRemoved&) = delete;
  ~BodyRemoved() {
    std::error_code ignored;
    std::filesystem::remove(file_, ignored);
  }

 private:
  const std::filesystem::path file_;
};

/// An error that says what to send, when a request that was to bring a model brought nothing.
Result<void> check_not_empty(const net::ServerRequest& request);

}  // namespace assay::serve
