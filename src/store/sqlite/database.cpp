// SPDX-License-Identifier: Apache-2.0
#include "sqlite/database.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <thread>

#include <assay/base/files.h>

namespace assay::store {
namespace {

/// What a person can do about it, by SQLite's result code.
std::string explain(int extended, int os_error, const std::string& file, const char* message) {
  const int code = extended & 0xff;
  if (extended == SQLITE_CONSTRAINT_FOREIGNKEY) {
    return fmt::format("the session is no longer in the history {}: it was removed meanwhile",
                       file);
  }
  if (code == SQLITE_FULL || os_error == ENOSPC || os_error == EDQUOT) {
    return fmt::format(
        "the disk of the history {} is full: free some space there, or choose another place with "
        "--store",
        file);
  }
  switch (code) {
    case SQLITE_IOERR:
      return fmt::format(
          "the disk failed while reading or writing the history {} ({}{}): check the disk, or "
          "choose "
          "another place with --store",
          file, message, os_error != 0 ? fmt::format(", error {}", os_error) : "");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return fmt::format(
          "{} is not a history, or is damaged ({}): move it away to start a new one, or choose "
          "another with --store",
          file, message);
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return fmt::format(
          "the history {} may not be written: change its permissions and its folder's, or choose "
          "another place with --store",
          file);
    case SQLITE_CANTOPEN:
      return fmt::format(
          "cannot open or create the history {}{}: check that its folder exists and may be "
          "written, "
          "or choose another place with --store",
          file, os_error != 0 ? fmt::format(" (error {})", os_error) : "");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fmt::format(
          "another program has kept the history {} locked for {} s: try again when it is done",
          file, kPatience / std::chrono::seconds(1));
    default:
      return fmt::format("history {}: {}", file, message);
  }
}

/// For its user alone: a history tells which programs somebody runs, and how. SQLite gives the
/// files beside it the same mode. A file that is there keeps the mode that somebody chose for it,
/// and is not opened: to close it would give up the locks of this process's other connections.
void create_private(const std::filesystem::path& file) {
  Fd(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR)).reset();
}

Failure failure(sqlite3* db, const std::filesystem::path& file) {
  const int code = sqlite3_extended_errcode(db);
  Error error{ErrorKind::environment,
              explain(code, sqlite3_system_errno(db), file.native(), sqlite3_errmsg(db))};
  error.temporary = (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED;
  return fail(std::move(error));
}

}  // namespace

Result<void> make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (folder.empty() || std::filesystem::exists(folder, error)) return {};
  std::filesystem::create_directories(folder, error);
  if (error) {
    return refused(
        fmt::format("cannot create the folder {} of the history: {}: choose another place with "
                    "--store",
                    folder.native(), error.message()));
  }
  // A history tells which programs somebody runs, and how.
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  return {};
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Result<bool> Statement::step() {
  sqlite3* db = sqlite3_db_handle(statement_.get());
  if (bind_error_ != 0)
    return refused(explain(bind_error_, 0, file_->native(), sqlite3_errstr(bind_error_)));
  switch (sqlite3_step(statement_.get())) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return failure(db, *file_);
  }
}

Result<void> Statement::run() {
  while (true) {
    auto row = step();
    if (row && *row) continue;
    sqlite3_reset(statement_.get());
    if (!row) return fail(std::move(row).error());
    return {};
  }
}

int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::string_view Statement::text(int column) const {
  return blob(column);
}

std::string_view Statement::blob(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data),
          static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

// Null as destructor: the caller keeps the bytes until the statement has run.
void Statement::put(int index, std::string_view value) {
  const char* data = value.data() != nullptr ? value.data() : "";
  bind_error_ |=
      sqlite3_bind_text64(statement_.get(), index, data, value.size(), nullptr, SQLITE_UTF8);
}

void Statement::put(int index, Blob value) {
  const char* data = value.bytes.data() != nullptr ? value.bytes.data() : "";
  bind_error_ |= sqlite3_bind_blob64(statement_.get(), index, data, value.bytes.size(), nullptr);
}

void Statement::put(int index, int64_t value) {
  bind_error_ |= sqlite3_bind_int64(statement_.get(), index, value);
}

void Statement::put(int index, std::optional<int64_t> value) {
  if (value) {
    put(index, *value);
  } else {
    put(index, std::nullopt);
  }
}

void Statement::put(int index, std::nullopt_t) {
  bind_error_ |= sqlite3_bind_null(statement_.get(), index);
}

void Database::Close::operator()(sqlite3* db) const {
  // Closing may move what others wrote from the log to the file: no hurry with that.
  sqlite3_exec(db, "PRAGMA synchronous = NORMAL", nullptr, nullptr, nullptr);
  sqlite3_close_v2(db);
}

Database::Database(sqlite3* db, std::filesystem::path file)
    : file_(std::make_unique<std::filesystem::path>(std::move(file))), db_(db) {}

Result<Database> Database::open(const std::filesystem::path& file, Milliseconds patience) {
  create_private(file);
  sqlite3* handle = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
  if (handle == nullptr) return refused(explain(SQLITE_NOMEM, 0, file.native(), "out of memory"));
  Database db(handle, file);
  if (code != SQLITE_OK) return failure(handle, file);
  ASSAY_CHECK(db.prepare_file(patience));
  return db;
}

Result<void> Database::prepare_file(Milliseconds patience) {
  sqlite3_extended_result_codes(db_.get(), 1);
  sqlite3_busy_timeout(db_.get(), static_cast<int>(patience.count()));
  // The first write to a new log would wait for the disk, though there is nothing yet to protect;
  // an app waits to be started meanwhile.
  std::error_code ignored;
  const auto log_size = std::filesystem::file_size(file_->native() + "-wal", ignored);
  hurried_ = ignored || log_size == 0;
  ASSAY_CHECK(run(hurried_ ? "PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF"
                           : "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL"));
  // SQLite does not wait when two processes switch a new file to WAL at once, so we do.
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (true) {
    auto switched = switch_to_wal();
    if (switched) return {};
    const bool busy = (sqlite3_errcode(db_.get()) & 0xff) == SQLITE_BUSY;
    if (!busy || std::chrono::steady_clock::now() > deadline) return switched;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

Result<void> Database::switch_to_wal() {
  {
    ASSAY_TRY(auto mode, prepare("PRAGMA journal_mode"));
    ASSAY_TRY(const bool row, mode.step());
    if (row && mode.text(0) == "wal") return {};
  }
  return run("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL");
}

Result<void> Database::run(const char* sql) {
  if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure(db_.get(), *file_);
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* handle = nullptr;
  const int code =
      sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()), &handle, nullptr);
  if (code != SQLITE_OK) return failure(db_.get(), *file_);
  return Statement(handle, *file_);
}

Result<void> Database::after_commit() {
  if (!std::exchange(hurried_, false)) return {};
  return run("PRAGMA synchronous = NORMAL");
}

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(db_.get()) == 0;
}

Result<Transaction> Transaction::begin(Database& db, const char* sql) {
  ASSAY_CHECK(db.run(sql));
  return Transaction(db);
}

Result<void> Transaction::commit() {
  ASSAY_CHECK(db_->run("COMMIT"));
  return std::exchange(db_, nullptr)->after_commit();
}

Transaction::~Transaction() {
  // SQLite may have rolled back by itself, for example on a full disk.
  if (db_ != nullptr && db_->in_transaction()) (void)db_->run("ROLLBACK");
}

}  // namespace assay::store
