// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/samples/records.h>
#include <assay/samples/series.h>

namespace assay::store {

/// One line of the history.
struct Summary {
  std::string id;
  std::string app;
  std::string hostname;
  Timestamp created;
  int runs = 0;
  std::string
      status;  ///< the worst status of its runs: "interrupted", "oom", "failed", ... or "no runs"
  bool running = false;  ///< at least one of its runs goes on
};

/// Keeps sessions, runs and samples. Thread-safe for one writer and any number of readers, also
/// across processes. Everything written is on the way to disk when the call returns; a crash of
/// this process loses none of it.
class Store {
 public:
  virtual ~Store() = default;

  virtual Result<void> add_session(const SessionRecord& session) = 0;
  /// Adds the run, or replaces what is known of it (status, exit, times, sampling, losses).
  virtual Result<void> put_run(const std::string& session_id, const RunRecord& run) = 0;
  /// Appends samples taken since the last call, in column blocks. The run must have been put
  /// before; series without samples are left out.
  virtual Result<void> append(const std::string& session_id, int run,
                              const std::vector<Series>& samples) = 0;
  /// Folds the many small blocks of a finished run into few well-compressed ones.
  virtual Result<void> compact(const std::string& session_id, int run) = 0;

  /// Newest first; also sessions whose records are damaged.
  virtual Result<std::vector<Summary>> list() = 0;
  /// `id` may be a unique prefix, or "last". Also of a session whose record is damaged.
  virtual Result<Summary> summary(const std::string& id) = 0;
  /// `id` as in summary().
  virtual Result<SessionRecord> session(const std::string& id) = 0;
  /// All samples of this moment, in memory, each series in the order of time; also of a run that is
  /// still being written. `session_id` as in summary().
  virtual Result<std::unique_ptr<SeriesReader>> samples(const std::string& session_id, int run) = 0;
  virtual Result<void> remove(const std::string& id) = 0;

  /// One file with the whole session, to mail or attach.
  virtual Result<void> export_session(const std::string& id, const std::filesystem::path& file) = 0;
  /// A file from export_session, or a session folder that holds one as session.assay. Returns the
  /// session's id; importing what is already there changes nothing, and so does a damaged file.
  virtual Result<std::string> import_session(const std::filesystem::path& file) = 0;

  /// Sessions with a run whose process is gone though it is still marked as running (its `assay`
  /// was killed). A process of another pid namespace, which cannot be seen, counts as there until
  /// nothing has come of it for an hour or the machine has started anew.
  virtual Result<std::vector<std::string>> cut_off() = 0;
  /// Marks the cut off runs of these sessions as interrupted.
  virtual Result<void> mark_interrupted(const std::vector<std::string>& sessions) = 0;
  /// Bytes of sample blocks and number of samples, for the benchmark.
  struct Size {
    uint64_t bytes = 0;
    uint64_t samples = 0;
  };
  virtual Result<Size> size(const std::string& session_id) = 0;
};

/// $ASSAY_STORE, else history.db under the XDG data folder.
std::filesystem::path default_store_path();
/// Creates the file and its folder when absent; brings an older schema up to date.
Result<std::unique_ptr<Store>> open_sqlite(const std::filesystem::path& file);

}  // namespace assay::store
