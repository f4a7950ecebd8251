// SPDX-License-Identifier: Apache-2.0
#include "sqlite/sqlite_store.h"

#include "sqlite/sample_rows.h"
#include "sqlite/schema.h"
#include "sqlite/session_rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

namespace assay::store {
namespace fs = std::filesystem;
namespace {

/// A run whose writer cannot be seen, in another container, goes on for as long as samples come.
constexpr auto kLongestSilence = std::chrono::hours(1);

/// A run as it was at one moment, whatever is written later.
class LoadedSeries final : public SeriesReader {
 public:
  explicit LoadedSeries(std::vector<Series> series) : series_(std::move(series)) {}

  std::vector<SeriesInfo> list() const override {
    std::vector<SeriesInfo> infos;
    infos.reserve(series_.size());
    for (const auto& series : series_) infos.push_back(series.info);
    return infos;
  }
  Result<Series> read(size_t index) const override {
    if (index >= series_.size()) return fail(ErrorKind::internal, "no series with that index");
    return series_[index];
  }

 private:
  std::vector<Series> series_;
};

/// The number of a series in `known`, added when it is new. Callers give series in the same order
/// again and again, so the one after the last found is the best guess.
uint32_t number_of(const SeriesInfo& info, std::vector<SeriesInfo>& known, size_t& guess) {
  if (guess >= known.size() || known[guess] != info) {
    guess = static_cast<size_t>(std::find(known.begin(), known.end(), info) - known.begin());
  }
  if (guess == known.size()) known.push_back(info);
  return static_cast<uint32_t>(guess++);
}

}  // namespace

SqliteStore::SqliteStore(Database db) : self_(ProcessId::self(root_)), db_(std::move(db)) {}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const fs::path& file,
                                                       std::span<const char* const> steps,
                                                       Milliseconds patience) {
  ASSAY_CHECK(make_folder(file.parent_path()));
  ASSAY_TRY(auto db, Database::open(file, patience));
  ASSAY_CHECK(migrate(db, steps));
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(db)));
}

Result<void> SqliteStore::add_session(const SessionRecord& session) {
  const Lock lock(mutex_);
  ASSAY_TRY(auto transaction, Transaction::write(db_));
  ASSAY_TRY(const bool known, has_session(db_, session.id));
  if (known) {
    return bad_input(
        fmt::format("session {} is already in the history {}", session.id, db_.file().native()));
  }
  ASSAY_CHECK(insert_session(db_, session));
  for (const auto& run : session.runs) ASSAY_CHECK(put_run_row(db_, session.id, run, self_));
  return transaction.commit();
}

Result<void> SqliteStore::put_run(const std::string& session_id, const RunRecord& run) {
  const Lock lock(mutex_);
  ASSAY_TRY(auto transaction, Transaction::write(db_));
  ASSAY_CHECK(put_run_row(db_, session_id, run, self_));
  return transaction.commit();
}

Failure SqliteStore::damaged(const Error& error) const {
  return fail(error.kind, fmt::format("history {}: {}", db_.file().native(), error.message));
}

Result<void> SqliteStore::start_appending(const std::string& session_id, int run) {
  if (appending_ && appending_->session_id == session_id && appending_->run == run) return {};
  ASSAY_TRY(const int64_t run_id, find_run(db_, session_id, run));
  ASSAY_TRY(auto series, load_series(db_, run_id));
  appending_ = Appending{session_id, run, run_id, std::move(series)};
  return {};
}

Result<void> SqliteStore::append(const std::string& session_id, int run,
                                 const std::vector<Series>& samples) {
  const Lock lock(mutex_);
  ASSAY_CHECK(start_appending(session_id, run));
  const size_t known = appending_->series.size();
  std::vector<ColumnView> views;
  size_t guess = 0;
  for (const auto& series : samples) {
    if (series.times.empty()) continue;
    views.push_back(
        {number_of(series.info, appending_->series, guess), series.times, series.values});
  }
  std::vector<StoredBlock> blocks;
  for (const auto& part : split_columns(views)) blocks.push_back(make_block(part, Effort::fast));

  const auto write = [&]() ASSAY_REQUIRES(mutex_) -> Result<void> {
    ASSAY_TRY(auto transaction, Transaction::write(db_));
    for (size_t i = known; i < appending_->series.size(); ++i) {
      ASSAY_CHECK(insert_series(db_, appending_->run_id, i, appending_->series[i]));
    }
    for (const auto& block : blocks)
      ASSAY_CHECK(insert_block(db_, Place::tail, appending_->run_id, block));
    return transaction.commit();
  };
  auto written = blocks.empty() ? Result<void>() : write();
  if (!written) appending_.reset();  // its series may not be in the file
  return written;
}

Result<void> SqliteStore::compact(const std::string& session_id, int run) {
  int64_t run_id = 0;
  std::vector<StoredBlock> tail;
  {
    const Lock lock(mutex_);
    ASSAY_TRY(run_id, find_run(db_, session_id, run));
    ASSAY_TRY(tail, load_blocks(db_, Place::tail, run_id));
  }
  // Folding takes long; neither other threads nor other processes wait for it.
  auto folded = fold(tail);
  const Lock lock(mutex_);
  if (!folded) return damaged(folded.error());
  ASSAY_TRY(auto transaction, Transaction::write(db_));
  ASSAY_CHECK(remove_tail(db_, run_id, tail));
  for (const auto& block : *folded) ASSAY_CHECK(insert_block(db_, Place::blocks, run_id, block));
  return transaction.commit();
}

Result<std::vector<Summary>> SqliteStore::list() {
  const Lock lock(mutex_);
  return list_sessions(db_);
}

Result<Summary> SqliteStore::summary(const std::string& id) {
  const Lock lock(mutex_);
  ASSAY_TRY(const auto transaction, Transaction::read(db_));
  ASSAY_TRY(const auto whole, resolve_session(db_, id));
  ASSAY_TRY(auto all, list_sessions(db_));
  return *std::find_if(all.begin(), all.end(), [&](const Summary& s) { return s.id == whole; });
}

Result<SessionRecord> SqliteStore::session(const std::string& id) {
  const Lock lock(mutex_);
  ASSAY_TRY(const auto transaction, Transaction::read(db_));
  ASSAY_TRY(const auto whole, resolve_session(db_, id));
  return load_session(db_, whole);
}

Result<std::unique_ptr<SeriesReader>> SqliteStore::samples(const std::string& session_id, int run) {
  const Lock lock(mutex_);
  ASSAY_TRY(const auto transaction, Transaction::read(db_));
  ASSAY_TRY(const auto whole, resolve_session(db_, session_id));
  ASSAY_TRY(const int64_t run_id, find_run(db_, whole, run));
  auto series = load_samples(db_, run_id);
  if (!series) return damaged(series.error());
  return std::make_unique<LoadedSeries>(std::move(*series));
}

Result<void> SqliteStore::remove(const std::string& id) {
  const Lock lock(mutex_);
  {
    ASSAY_TRY(auto transaction, Transaction::write(db_));
    ASSAY_TRY(const auto whole, resolve_session(db_, id));
    ASSAY_CHECK(db_.change("DELETE FROM sessions WHERE id = ?", whole));
    ASSAY_CHECK(transaction.commit());
  }
  appending_.reset();
  // Gives the space back; what fails here costs only space.
  (void)db_.run("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)");
  return {};
}

Result<Archive> SqliteStore::load_archive(const std::string& id) {
  ASSAY_TRY(const auto transaction, Transaction::read(db_));
  ASSAY_TRY(const auto whole, resolve_session(db_, id));
  Archive archive;
  ASSAY_TRY(archive.session, load_session(db_, whole));
  for (const auto& run : archive.session.runs) {
    ASSAY_TRY(const int64_t run_id, find_run(db_, whole, run.ordinal));
    ArchivedRun archived;
    archived.ordinal = run.ordinal;
    ASSAY_TRY(archived.series, load_series(db_, run_id));
    ASSAY_TRY(auto blocks, load_blocks(db_, Place::blocks, run_id));
    ASSAY_TRY(const auto tail, load_blocks(db_, Place::tail, run_id));
    auto folded = fold(tail);
    if (!folded) return damaged(folded.error());
    for (auto& block : blocks) archived.blocks.push_back(std::move(block.data));
    for (auto& block : *folded) archived.blocks.push_back(std::move(block.data));
    archive.runs.push_back(std::move(archived));
  }
  return archive;
}

Result<void> SqliteStore::export_session(const std::string& id, const fs::path& file) {
  Archive archive;
  {
    const Lock lock(mutex_);
    ASSAY_TRY(archive, load_archive(id));
  }
  ASSAY_TRY(const std::string bytes, write_archive(archive));
  return write_file(file, bytes);
}

Result<void> SqliteStore::insert_archive(const Archive& archive) {
  ASSAY_CHECK(insert_session(db_, archive.session));
  for (const auto& run : archive.session.runs)
    ASSAY_CHECK(put_run_row(db_, archive.session.id, run, {}));
  for (const auto& run : archive.runs) {
    ASSAY_TRY(const int64_t run_id, find_run(db_, archive.session.id, run.ordinal));
    for (size_t i = 0; i < run.series.size(); ++i)
      ASSAY_CHECK(insert_series(db_, run_id, i, run.series[i]));
    for (const auto& data : run.blocks) {
      ASSAY_TRY(const auto columns, decode_block(data));
      StoredBlock block = describe_block(views_of(columns));
      block.data = data;
      ASSAY_CHECK(insert_block(db_, Place::blocks, run_id, block));
    }
  }
  // Whoever wrote a run that was still going on does so in another history.
  ASSAY_TRY(const auto running, running_rows(db_));
  for (const auto& row : running) {
    if (row.session_id == archive.session.id) ASSAY_CHECK(interrupt_run(db_, row));
  }
  return {};
}

Result<std::string> SqliteStore::import_session(const fs::path& file) {
  std::error_code ignored;
  const bool folder = fs::is_directory(file, ignored);
  const fs::path source = folder ? file / kArchiveName : file;
  ASSAY_TRY(const std::string bytes, read_file(source, kMaxArchive));
  auto archive = read_archive(bytes);
  if (!archive)
    return fail(archive.error().kind,
                fmt::format("{}: {}", source.native(), archive.error().message));
  // The path in the file is another machine's, and may be anything.
  archive->session.folder = folder ? fs::absolute(file, ignored).native() : "";

  const Lock lock(mutex_);
  ASSAY_TRY(auto transaction, Transaction::write(db_));
  ASSAY_TRY(const bool known, has_session(db_, archive->session.id));
  if (!known) {
    ASSAY_CHECK(insert_archive(*archive));
    ASSAY_CHECK(transaction.commit());
  }
  return archive->session.id;
}

Result<bool> SqliteStore::is_cut_off(const RunningRow& row) {
  const ProcessState state = state_of(root_, row.writer);
  if (state != ProcessState::unknown) return state == ProcessState::dead;
  ASSAY_TRY(const Timestamp last, last_sign(db_, row));
  return std::chrono::system_clock::now() - last > kLongestSilence;
}

Result<std::vector<RunningRow>> SqliteStore::cut_off_rows() {
  ASSAY_TRY(auto rows, running_rows(db_));
  std::vector<RunningRow> gone;
  for (auto& row : rows) {
    ASSAY_TRY(const bool cut_off, is_cut_off(row));
    if (cut_off) gone.push_back(std::move(row));
  }
  return gone;
}

Result<std::vector<std::string>> SqliteStore::cut_off() {
  const Lock lock(mutex_);
  ASSAY_TRY(const auto rows, cut_off_rows());
  std::vector<std::string> sessions;
  for (const auto& row : rows) {
    if (sessions.empty() || sessions.back() != row.session_id) sessions.push_back(row.session_id);
  }
  return sessions;
}

Result<void> SqliteStore::mark_interrupted(const std::vector<std::string>& sessions) {
  if (sessions.empty()) return {};
  const Lock lock(mutex_);
  ASSAY_TRY(auto transaction, Transaction::write(db_));
  ASSAY_TRY(const auto rows, cut_off_rows());
  for (const auto& row : rows) {
    if (std::find(sessions.begin(), sessions.end(), row.session_id) == sessions.end()) continue;
    ASSAY_CHECK(interrupt_run(db_, row));
  }
  return transaction.commit();
}

Result<Store::Size> SqliteStore::size(const std::string& session_id) {
  const Lock lock(mutex_);
  ASSAY_TRY(const auto transaction, Transaction::read(db_));
  ASSAY_TRY(const auto whole, resolve_session(db_, session_id));
  return sample_size(db_, whole);
}

Result<std::unique_ptr<Store>> open_sqlite(const fs::path& file) {
  ASSAY_TRY(auto store, SqliteStore::open(file, schema_steps()));
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace assay::store
