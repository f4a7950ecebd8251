// SPDX-License-Identifier: Apache-2.0
#include "named_file.h"

#include <system_error>

#include <assay/base/files.h>

namespace assay::cli {

Result<void> check_named_file(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error) && !error)
    return bad_input("there is no file " + file.native());
  return {};
}

Result<std::string> read_named_file(const std::filesystem::path& file, size_t limit) {
  ASSAY_CHECK(check_named_file(file));
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    return bad_input(file.native() + " is a folder, and no file");
  return read_file(file, limit);
}

}  // namespace assay::cli
