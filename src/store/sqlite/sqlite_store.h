// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "archive.h"
#include "sqlite/database.h"
#include "sqlite/session_rows.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/mutex.h>
#include <assay/base/process_id.h>
#include <assay/store/store.h>

namespace assay::store {

/// A history in one SQLite file. One connection, used under one mutex.
class SqliteStore final : public Store {
 public:
  /// `steps` and `patience` differ from the defaults only in tests.
  static Result<std::unique_ptr<SqliteStore>> open(const std::filesystem::path& file,
                                                   std::span<const char* const> steps,
                                                   Milliseconds patience = kPatience);

  Result<void> add_session(const SessionRecord& session) override;
  Result<void> put_run(const std::string& session_id, const RunRecord& run) override;
  Result<void> append(const std::string& session_id, int run,
                      const std::vector<Series>& samples) override;
  Result<void> compact(const std::string& session_id, int run) override;
  Result<std::vector<Summary>> list() override;
  Result<Summary> summary(const std::string& id) override;
  Result<SessionRecord> session(const std::string& id) override;
  Result<std::unique_ptr<SeriesReader>> samples(const std::string& session_id, int run) override;
  Result<void> remove(const std::string& id) override;
  Result<void> export_session(const std::string& id, const std::filesystem::path& file) override;
  Result<std::string> import_session(const std::filesystem::path& file) override;
  Result<std::vector<std::string>> cut_off() override;
  Result<void> mark_interrupted(const std::vector<std::string>& sessions) override;
  Result<Size> size(const std::string& session_id) override;

 private:
  /// The run that is being appended to, with its series in the order of their numbers.
  struct Appending {
    std::string session_id;
    int run = 0;
    int64_t run_id = 0;
    std::vector<SeriesInfo> series;
  };

  explicit SqliteStore(Database db);
  Failure damaged(const Error& error) const ASSAY_REQUIRES(mutex_);
  Result<void> start_appending(const std::string& session_id, int run) ASSAY_REQUIRES(mutex_);
  Result<Archive> load_archive(const std::string& id) ASSAY_REQUIRES(mutex_);
  Result<bool> is_cut_off(const RunningRow& row) ASSAY_REQUIRES(mutex_);
  Result<std::vector<RunningRow>> cut_off_rows() ASSAY_REQUIRES(mutex_);
  Result<void> insert_archive(const Archive& archive) ASSAY_REQUIRES(mutex_);

  SysRoot root_;
  ProcessId self_;
  Mutex mutex_;
  Database db_ ASSAY_GUARDED_BY(mutex_);
  std::optional<Appending> appending_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::store
