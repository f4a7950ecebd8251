// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/base/time.h>

struct sqlite3;
struct sqlite3_stmt;

namespace assay::store {

struct Blob {
  std::string_view bytes;
};

/// One prepared statement. What is bound must live until the statement has run; a failed bind shows
/// at the next step.
class Statement {
 public:
  Statement(sqlite3_stmt* statement, const std::filesystem::path& file)
      : statement_(statement), file_(&file) {}

  template <class... Args>
  Statement& bind(const Args&... args) {
    int index = 0;
    (put(++index, args), ...);
    return *this;
  }
  /// True while there is a row.
  Result<bool> step();
  /// Runs to the end and can then be bound again.
  Result<void> run();

  int64_t integer(int column) const;
  bool is_null(int column) const;
  /// Views end with the next step.
  std::string_view text(int column) const;
  std::string_view blob(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  void put(int index, int64_t value);
  void put(int index, int value) { put(index, int64_t{value}); }
  void put(int index, std::string_view value);
  void put(int index, const std::string& value) { put(index, std::string_view(value)); }
  void put(int index, Blob value);
  void put(int index, std::optional<int64_t> value);
  void put(int index, std::nullopt_t);

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const std::filesystem::path* file_;
  int bind_error_ = 0;
};

/// For the files of a database, where there is none yet; only its owner may look into it.
Result<void> make_folder(const std::filesystem::path& folder);

/// How long to wait for another process that is writing.
constexpr Milliseconds kPatience = std::chrono::seconds(30);

/// One connection. For one thread at a time; must outlive its statements and not move meanwhile.
class Database {
 public:
  /// Opens the file, creating it when absent, in WAL mode with foreign keys. What fails because
  /// another process has not given up its lock within `patience` fails with a temporary error.
  static Result<Database> open(const std::filesystem::path& file,
                               Milliseconds patience = kPatience);

  /// Runs statements that give no rows.
  Result<void> run(const char* sql);
  Result<Statement> prepare(std::string_view sql);
  /// The first column of the only row, as a number.
  template <class... Args>
  Result<int64_t> number(std::string_view sql, const Args&... args) {
    ASSAY_TRY(auto statement, prepare(sql));
    ASSAY_TRY(const bool row, statement.bind(args...).step());
    return row ? statement.integer(0) : 0;
  }
  template <class... Args>
  Result<void> change(std::string_view sql, const Args&... args) {
    ASSAY_TRY(auto statement, prepare(sql));
    return statement.bind(args...).run();
  }
  bool in_transaction() const;
  /// From the first write on, all is written in an order that survives a loss of power.
  Result<void> after_commit();
  const std::filesystem::path& file() const { return *file_; }

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  Database(sqlite3* db, std::filesystem::path file);
  Result<void> prepare_file(Milliseconds patience);
  Result<void> switch_to_wal();

  std::unique_ptr<std::filesystem::path> file_;  // statements point to it, also after a move
  std::unique_ptr<sqlite3, Close> db_;
  bool hurried_ = false;
};

/// Rolls back at its end unless it was committed.
class Transaction {
 public:
  static Result<Transaction> read(Database& db) { return begin(db, "BEGIN"); }
  /// Waits for other writers, so that nothing in it can fail for their sake later.
  static Result<Transaction> write(Database& db) { return begin(db, "BEGIN IMMEDIATE"); }
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Result<void> commit();

 private:
  explicit Transaction(Database& db) : db_(&db) {}
  static Result<Transaction> begin(Database& db, const char* sql);

  Database* db_;
};

}  // namespace assay::store
