// SPDX-License-Identifier: Apache-2.0
#include "sqlite/database.h"
#include "sqlite/schema.h"

#include <assay/store/shelf.h>

namespace assay::store {
namespace {

class SqliteShelf final : public Shelf {
 public:
  explicit SqliteShelf(Database db) : db_(std::move(db)) {}

  Result<void> put(const std::string& kind, const std::string& name,
                   const std::string& json) override {
    ASSAY_TRY(auto transaction, Transaction::write(db_));
    ASSAY_CHECK(
        db_.change("INSERT OR REPLACE INTO documents (kind, name, written_ns, body) VALUES (?, ?, "
                   "?, ?)",
                   kind, name, unix_ns(SystemClock().wall()), json));
    return transaction.commit();
  }

  Result<std::vector<Document>> list(const std::string& kind) override {
    ASSAY_TRY(auto statement, db_.prepare("SELECT name, written_ns, body FROM documents WHERE kind "
                                          "= ? ORDER BY name"));
    statement.bind(kind);
    std::vector<Document> found;
    while (true) {
      ASSAY_TRY(const bool row, statement.step());
      if (!row) return found;
      found.push_back({std::string(statement.text(0)), from_unix_ns(statement.integer(1)),
                       std::string(statement.text(2))});
    }
  }

  Result<bool> remove(const std::string& kind, const std::string& name) override {
    ASSAY_TRY(auto transaction, Transaction::write(db_));
    ASSAY_TRY(const int64_t count,
              db_.number("SELECT count(*) FROM documents WHERE kind = ? AND name = ?", kind, name));
    ASSAY_CHECK(db_.change("DELETE FROM documents WHERE kind = ? AND name = ?", kind, name));
    ASSAY_CHECK(transaction.commit());
    return count > 0;
  }

 private:
  Database db_;
};

}  // namespace

Result<std::unique_ptr<Shelf>> open_sqlite_shelf(const std::filesystem::path& history) {
  std::error_code ignored;
  std::filesystem::create_directories(history.parent_path(), ignored);
  ASSAY_TRY(auto db, Database::open(history));
  ASSAY_CHECK(migrate(db, schema_steps()));
  return std::make_unique<SqliteShelf>(std::move(db));
}

}  // namespace assay::store
