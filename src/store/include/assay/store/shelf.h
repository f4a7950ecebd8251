// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::store {

/// Something that belongs to no session: a device, what was learned, a placement.
struct Document {
  std::string name;
  Timestamp written;
  std::string json;
};

/// Keeps documents by kind and name, across processes and, in PostgreSQL, across machines. What was
/// put is on the disk when the call returns. One thread at a time.
class Shelf {
 public:
  virtual ~Shelf() = default;

  /// In place of an older one of that kind and name.
  virtual Result<void> put(const std::string& kind, const std::string& name,
                           const std::string& json) = 0;
  /// In the order of their names.
  virtual Result<std::vector<Document>> list(const std::string& kind) = 0;
  /// Whether there was one.
  virtual Result<bool> remove(const std::string& kind, const std::string& name) = 0;
};

/// "postgresql://user@host/database", as libpq takes it.
bool is_postgres(std::string_view where);

/// In the history's file.
Result<std::unique_ptr<Shelf>> open_sqlite_shelf(const std::filesystem::path& history);
/// Makes its table where there is none. Loads libpq, which nothing else needs.
Result<std::unique_ptr<Shelf>> open_postgres_shelf(const std::string& url);

}  // namespace assay::store
