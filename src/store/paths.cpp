// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <system_error>

#include <assay/base/files.h>
#include <assay/store/store.h>

namespace assay::store {
namespace fs = std::filesystem;

fs::path default_store_path() {
  constexpr const char* kName = "history.db";
  const char* chosen = std::getenv("ASSAY_STORE");
  if (chosen == nullptr || *chosen == '\0') return data_home() / kName;
  std::error_code ignored;
  return fs::is_directory(chosen, ignored) ? fs::path(chosen) / kName : fs::path(chosen);
}

}  // namespace assay::store
