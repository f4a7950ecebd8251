// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::store {

/// Something that belongs to no session: a device, what was learned.
struct Document {
  std::string name;
  Timestamp written;
  std::string json;
};

/// Keeps documents by kind and name, in a PostgreSQL that machines share or in the history's file.
/// What was put is on the disk when the call returns. One thread at a time.
class Shelf {
 public:
  /// "postgresql://user@host/database", as libpq takes it. Loads libpq, which nothing else needs.
  /// Its table is made by the first put.
  static Result<std::unique_ptr<Shelf>> open(const std::string& url);
  /// A file as open_sqlite() of store.h makes it; the two can be open together.
  static Result<std::unique_ptr<Shelf>> open_sqlite(const std::filesystem::path& file);
  virtual ~Shelf() = default;

  /// In place of an older one of that kind and name.
  virtual Result<void> put(const std::string& kind, const std::string& name,
                           const std::string& json) = 0;
  /// Many of a kind, by name: all of them or none.
  virtual Result<void> put_all(const std::string& kind,
                               std::span<const std::pair<std::string, std::string>> documents) = 0;
  /// What was put before.
  virtual Result<void> remove_older(const std::string& kind, Timestamp than) = 0;
  /// Whether it was there.
  virtual Result<bool> remove(const std::string& kind, const std::string& name) = 0;
  /// In the order of their names.
  virtual Result<std::vector<Document>> list(const std::string& kind) = 0;
  /// Likewise: of kinds with so many documents that they are better read one by one.
  virtual Result<std::vector<std::string>> names(const std::string& kind) = 0;
  virtual Result<std::optional<Document>> find(const std::string& kind,
                                               const std::string& name) = 0;
  /// When it was put; nothing: never.
  virtual Result<std::optional<Timestamp>> written(const std::string& kind,
                                                   const std::string& name) = 0;
};

bool is_postgres(std::string_view url);

}  // namespace assay::store
