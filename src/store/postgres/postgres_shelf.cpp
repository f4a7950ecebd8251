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
constexpr const char* kTable =
    "SELECT pg_advisory_lock(4702891);"
    "CREATE TABLE IF NOT EXISTS assay_documents (kind text NOT NULL, name text NOT NULL, "
    "written timestamptz NOT NULL, body json NOT NULL, PRIMARY KEY (kind, name));"
    "SELECT pg_advisory_unlock(4702891)";

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

  Result<void> prepare() {
    // Without parameters several statements may be given at once.
    std::string_view rest = kTable;
    while (!rest.empty()) ASSAY_CHECK(run(std::string(next_field(rest, ';')), {}));
    return {};
  }

  Result<void> put(const std::string& kind, const std::string& name,
                   const std::string& json) override {
    ASSAY_CHECK(
        run("INSERT INTO assay_documents VALUES ($1, $2, now(), $3) ON CONFLICT (kind, "
            "name) DO UPDATE SET written = EXCLUDED.written, body = EXCLUDED.body",
            {kind, name, json}));
    return {};
  }

  Result<std::vector<Document>> list(const std::string& kind) override {
    ASSAY_TRY(const Rows rows,
              run("SELECT name, (extract(epoch FROM written) * 1000000)::bigint, body FROM "
                  "assay_documents WHERE kind = $1 ORDER BY name COLLATE \"C\"",
                  {kind}));
    std::vector<Document> found;
    for (int i = 0; i < libpq().rows(rows.get()); ++i) {
      const auto microseconds = parse_int(libpq().value(rows.get(), i, 1)).value_or(0);
      found.push_back({libpq().value(rows.get(), i, 0), from_unix_ns(microseconds * 1000),
                       libpq().value(rows.get(), i, 2)});
    }
    return found;
  }

  Result<bool> remove(const std::string& kind, const std::string& name) override {
    ASSAY_TRY(const Rows rows,
              run("DELETE FROM assay_documents WHERE kind = $1 AND name = $2", {kind, name}));
    return std::string_view(libpq().changed(rows.get())) != "0";
  }

 private:
  Result<Rows> run(const std::string& statement, const std::vector<std::string>& values) {
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

Result<std::unique_ptr<Shelf>> open_postgres_shelf(const std::string& url) {
  ASSAY_CHECK(libpq().loaded);
  // An address may name its own; these are for those that do not.
  const std::array keys = {"connect_timeout", "application_name", "options", "dbname",
                           static_cast<const char*>(nullptr)};
  const std::array values = {"10", "assay",
                             "-c statement_timeout=30000 -c client_min_messages=warning",
                             url.c_str(), static_cast<const char*>(nullptr)};
  Connection connection(libpq().connect(keys.data(), values.data(), 1));
  if (libpq().status(connection.get()) != CONNECTION_OK)
    return refused(fmt::format("the shared store does not answer: {}", words_of(connection.get())));
  auto shelf = std::make_unique<PostgresShelf>(std::move(connection));
  ASSAY_CHECK(shelf->prepare());
  return shelf;
}

}  // namespace assay::store
