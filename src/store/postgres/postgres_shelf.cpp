// SPDX-License-Identifier: Apache-2.0
#include "postgres/libpq.h"

#include <array>
#include <fmt/format.h>
#include <vector>

#include <assay/base/text.h>
#include <assay/store/shelf.h>

namespace assay::store {
namespace {

struct Finish {
  void operator()(PGconn* connection) const { libpq().finish(connection); }
};
struct Clear {
  void operator()(PGresult* result) const { libpq().clear(result); }
};
using Connection = std::unique_ptr<PGconn, Finish>;
using Rows = std::unique_ptr<PGresult, Clear>;

/// Two that make the table at the same moment would otherwise disturb each other.
constexpr std::array kMakeTable = {
    "SELECT pg_advisory_lock(4702891)",
    "CREATE TABLE IF NOT EXISTS assay_documents (kind text NOT NULL, name text NOT NULL, "
    "written timestamptz NOT NULL, body json NOT NULL, PRIMARY KEY (kind, name))",
    "SELECT pg_advisory_unlock(4702891)",
};
constexpr const char* kMicroseconds = "(extract(epoch FROM written) * 1000000)::bigint";

Timestamp time_of(const char* microseconds) {
  return from_unix_ns(parse_int(microseconds).value_or(0) * 1000);
}

/// What PostgreSQL says, in one line.
std::string words_of(PGconn* connection) {
  std::string words(trim(libpq().error(connection)));
  for (char& c : words) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return words;
}

class PostgresShelf final : public Shelf {
 public:
  explicit PostgresShelf(Connection connection) : connection_(std::move(connection)) {}

  Result<void> put(const std::string& kind, const std::string& name,
                   const std::string& json) override {
    ASSAY_CHECK(make_table());
    return insert(kind, name, json);
  }

  Result<void> put_all(const std::string& kind,
                       std::span<const std::pair<std::string, std::string>> documents) override {
    ASSAY_CHECK(make_table());
    ASSAY_CHECK(run("BEGIN", {}));
    for (const auto& [name, json] : documents) {
      if (auto put = insert(kind, name, json); !put) {
        (void)run("ROLLBACK", {});
        return put;
      }
    }
    ASSAY_CHECK(run("COMMIT", {}));
    return {};
  }

  Result<void> remove_older(const std::string& kind, Timestamp than) override {
    ASSAY_TRY(const bool exists, has_table());
    if (!exists) return {};
    ASSAY_CHECK(
        run("DELETE FROM assay_documents WHERE kind = $1 AND written < "
            "to_timestamp($2::double precision / 1000000)",
            {kind, std::to_string(unix_ns(than) / 1000)}));
    return {};
  }

  Result<bool> remove(const std::string& kind, const std::string& name) override {
    ASSAY_TRY(const bool exists, has_table());
    if (!exists) return false;
    ASSAY_TRY(const Rows rows,
              run("DELETE FROM assay_documents WHERE kind = $1 AND name = $2 RETURNING name",
                  {kind, name}));
    return libpq().rows(rows.get()) > 0;
  }

  Result<std::vector<Document>> list(const std::string& kind) override {
    std::vector<Document> found;
    ASSAY_TRY(const bool exists, has_table());
    if (!exists) return found;
    ASSAY_TRY(const Rows rows, run(fmt::format("SELECT name, {}, body FROM assay_documents WHERE "
                                               "kind = $1 ORDER BY name COLLATE \"C\"",
                                               kMicroseconds),
                                   {kind}));
    for (int i = 0; i < libpq().rows(rows.get()); ++i) found.push_back(document_at(rows, i));
    return found;
  }

  Result<std::vector<std::string>> names(const std::string& kind) override {
    std::vector<std::string> found;
    ASSAY_TRY(const bool exists, has_table());
    if (!exists) return found;
    ASSAY_TRY(const Rows rows,
              run("SELECT name FROM assay_documents WHERE kind = $1 ORDER BY name COLLATE \"C\"",
                  {kind}));
    for (int i = 0; i < libpq().rows(rows.get()); ++i)
      found.emplace_back(libpq().value(rows.get(), i, 0));
    return found;
  }

  Result<std::optional<Document>> find(const std::string& kind, const std::string& name) override {
    ASSAY_TRY(const bool exists, has_table());
    if (!exists) return std::optional<Document>();
    ASSAY_TRY(const Rows rows, run(fmt::format("SELECT name, {}, body FROM assay_documents WHERE "
                                               "kind = $1 AND name = $2",
                                               kMicroseconds),
                                   {kind, name}));
    if (libpq().rows(rows.get()) == 0) return std::optional<Document>();
    return std::optional(document_at(rows, 0));
  }

  Result<std::optional<Timestamp>> written(const std::string& kind,
                                           const std::string& name) override {
    ASSAY_TRY(const bool exists, has_table());
    if (!exists) return std::optional<Timestamp>();
    ASSAY_TRY(const Rows rows,
              run(fmt::format("SELECT {} FROM assay_documents WHERE kind = $1 AND name = $2",
                              kMicroseconds),
                  {kind, name}));
    if (libpq().rows(rows.get()) == 0) return std::optional<Timestamp>();
    return std::optional(time_of(libpq().value(rows.get(), 0, 0)));
  }

 private:
  static Document document_at(const Rows& rows, int row) {
    return {libpq().value(rows.get(), row, 0), time_of(libpq().value(rows.get(), row, 1)),
            libpq().value(rows.get(), row, 2)};
  }

  Result<void> make_table() {
    ASSAY_TRY(const bool exists, has_table());
    if (exists) return {};
    for (const char* statement : kMakeTable) ASSAY_CHECK(run(statement, {}));
    return {};
  }

  Result<void> insert(const std::string& kind, const std::string& name, const std::string& json) {
    ASSAY_CHECK(
        run("INSERT INTO assay_documents VALUES ($1, $2, now(), $3) ON CONFLICT (kind, "
            "name) DO UPDATE SET written = EXCLUDED.written, body = EXCLUDED.body",
            {kind, name, json}));
    return {};
  }

  /// Whoever may only read does not try to make it.
  Result<bool> has_table() {
    ASSAY_TRY(const Rows rows, run("SELECT to_regclass('assay_documents') IS NOT NULL", {}));
    return std::string_view(libpq().value(rows.get(), 0, 0)) == "t";
  }

  Result<Rows> run(const std::string& statement, const std::vector<std::string>& values) {
    // The server may have been started again since.
    if (libpq().status(connection_.get()) != CONNECTION_OK) libpq().reset(connection_.get());
    std::vector<const char*> texts;
    texts.reserve(values.size());
    for (const auto& value : values) texts.push_back(value.c_str());
    Rows rows(libpq().run(connection_.get(), statement.c_str(), static_cast<int>(texts.size()),
                          nullptr, texts.data(), nullptr, nullptr, 0));
    const auto status = libpq().result_status(rows.get());
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return rows;
    return refused(fmt::format("the shared store: {}", words_of(connection_.get())));
  }

  Connection connection_;
};

}  // namespace

bool is_postgres(std::string_view where) {
  return where.starts_with("postgresql://") || where.starts_with("postgres://");
}

Result<std::unique_ptr<Shelf>> Shelf::open(const std::string& url) {
  ASSAY_CHECK(libpq().loaded);
  // For addresses that do not name their own. A server that is gone without a word is given up
  // after half a minute.
  const std::array keys = {"connect_timeout",
                           "tcp_user_timeout",
                           "keepalives_idle",
                           "keepalives_interval",
                           "keepalives_count",
                           "application_name",
                           "options",
                           "dbname",
                           static_cast<const char*>(nullptr)};
  const std::array values = {"10",
                             "20000",
                             "10",
                             "5",
                             "3",
                             "assay",
                             "-c statement_timeout=20000 -c client_min_messages=warning",
                             url.c_str(),
                             static_cast<const char*>(nullptr)};
  Connection connection(libpq().connect(keys.data(), values.data(), 1));
  if (libpq().status(connection.get()) != CONNECTION_OK)
    return refused(fmt::format("the shared store does not answer: {}", words_of(connection.get())));
  return std::make_unique<PostgresShelf>(std::move(connection));
}

}  // namespace assay::store
