// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "archive.h"
#include "sqlite/database.h"

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/process_id.h>
#include <assay/store/store.h>

namespace assay::store {

/// A history in one SQLite file. One connection, used under one mutex.
class SqliteStore final : public Store {
 public:
  /// `steps` and `root` differ from the defaults only in tests.
  static Result<std::unique_ptr<SqliteStore>> open(const std::filesystem::path& file,
                                                   std::span<const char* const> steps,
                                                   const SysRoot& root = SysRoot());

  Result<void> add_session(const SessionRecord& session) override;
  Result<void> put_run(const std::string& session_id, const RunRecord& run) override;
  Result<void> append(const std::string& session_id, int run,
                      const std::vector<Series>& samples) override;
  Result<void> compact(const std::string& session_id, int run) override;
  Result<std::vector<Summary>> list() override;
  Result<SessionRecord> session(const std::string& id) override;
  Result<std::unique_ptr<SeriesReader>> samples(const std::string& session_id, int run) override;
  Result<void> remove(const std::string& id) override;
  Result<void> export_session(const std::string& id, const std::filesystem::path& file) override;
  Result<std::string> import_session(const std::filesystem::path& file) override;
  Result<std::vector<std::string>> mark_interrupted() override;
  Result<Size> size(const std::string& session_id) override;

 private:
  /// The run that is being appended to, with its series in the order of their numbers.
  struct Appending {
    std::string session_id;
    int run = 0;
    int64_t run_id = 0;
    std::vector<SeriesInfo> series;
  };

  SqliteStore(Database db, const SysRoot& root);
  // These are called with mutex_ held.
  Failure damaged(const Error& error) const;
  Result<void> start_appending(const std::string& session_id, int run);
  Result<Archive> load_archive(const std::string& id);
  Result<void> insert_archive(const Archive& archive);

  SysRoot root_;
  ProcessId self_;
  std::mutex mutex_;
  Database db_;                         // guarded by mutex_
  std::optional<Appending> appending_;  // guarded by mutex_
};

}  // namespace assay::store
