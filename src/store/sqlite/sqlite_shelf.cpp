// SPDX-License-Identifier: Apache-2.0
#include "sqlite/database.h"
#include "sqlite/schema.h"

#include <string>
#include <utility>
#include <vector>

#include <assay/store/shelf.h>

namespace assay::store {
namespace {

class SqliteShelf final : public Shelf {
 public:
  explicit SqliteShelf(Database db) : db_(std::move(db)) {}

  Result<void> put(const std::string& kind, const std::string& name,
                   const std::string& json) override {
    const std::pair<std::string, std::string> one(name, json);
    return put_all(kind, {&one, 1});
  }

  Result<void> put_all(const std::string& kind,
                       std::span<const std::pair<std::string, std::string>> documents) override {
    ASSAY_TRY(auto transaction, Transaction::write(db_));
    ASSAY_TRY(auto insert, db_.prepare("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)"));
    const int64_t now = unix_ns(SystemClock().now());
    for (const auto& [name, json] : documents)
      ASSAY_CHECK(insert.bind(kind, name, now, json).run());
    return transaction.commit();
  }

  Result<bool> remove(const std::string& kind, const std::string& name) override {
    ASSAY_TRY(auto transaction, Transaction::write(db_));
    ASSAY_TRY(const int64_t found,
              db_.number("SELECT count(*) FROM documents WHERE kind = ? AND name = ?", kind, name));
    ASSAY_CHECK(db_.change("DELETE FROM documents WHERE kind = ? AND name = ?", kind, name));
    ASSAY_CHECK(transaction.commit());
    return found > 0;
  }

  Result<void> remove_older(const std::string& kind, Timestamp than) override {
    return db_.change("DELETE FROM documents WHERE kind = ? AND written_ns < ?", kind,
                      unix_ns(than));
  }

  Result<std::vector<Document>> list(const std::string& kind) override {
    ASSAY_TRY(auto rows, db_.prepare("SELECT name, written_ns, body FROM documents WHERE kind = ? "
                                     "ORDER BY name"));
    rows.bind(kind);
    std::vector<Document> found;
    while (true) {
      ASSAY_TRY(const bool row, rows.step());
      if (!row) return found;
      found.push_back(document_at(rows));
    }
  }

  Result<std::vector<std::string>> names(const std::string& kind) override {
    ASSAY_TRY(auto rows, db_.prepare("SELECT name FROM documents WHERE kind = ? ORDER BY name"));
    rows.bind(kind);
    std::vector<std::string> found;
    while (true) {
      ASSAY_TRY(const bool row, rows.step());
      if (!row) return found;
      found.emplace_back(rows.text(0));
    }
  }

  Result<std::optional<Document>> find(const std::string& kind, const std::string& name) override {
    ASSAY_TRY(auto rows, db_.prepare("SELECT name, written_ns, body FROM documents WHERE kind = ? "
                                     "AND name = ?"));
    ASSAY_TRY(const bool row, rows.bind(kind, name).step());
    return row ? std::optional(document_at(rows)) : std::nullopt;
  }

  Result<std::optional<Timestamp>> written(const std::string& kind,
                                           const std::string& name) override {
    ASSAY_TRY(const auto document, find(kind, name));
    return document ? std::optional(document->written) : std::nullopt;
  }

 private:
  static Document document_at(const Statement& row) {
    return {std::string(row.text(0)), from_unix_ns(row.integer(1)), std::string(row.text(2))};
  }

  Database db_;
};

}  // namespace

Result<std::unique_ptr<Shelf>> Shelf::open_sqlite(const std::filesystem::path& file) {
  ASSAY_CHECK(make_folder(file.parent_path()));
  ASSAY_TRY(auto db, Database::open(file));
  ASSAY_CHECK(migrate(db, schema_steps()));
  return std::unique_ptr<Shelf>(std::make_unique<SqliteShelf>(std::move(db)));
}

}  // namespace assay::store
