// SPDX-License-Identifier: Apache-2.0
#include "dim_options.h"

#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/base/wording.h>

namespace assay::cli {

void add_dim_option(CLI::App& command, std::vector<std::string>& words) {
  command
      .add_option("--dim", words,
                  "Size of a dimension that the file only names (default: 1); may be repeated")
      ->type_name("NAME=N")
      ->allow_extra_args(false);
}

Result<model::TraceOptions> read_dims(const std::vector<std::string>& words) {
  model::TraceOptions options;
  for (const auto& word : words) {
    const size_t equals = word.rfind('=');
    const auto size = equals == std::string::npos || equals == 0
                          ? std::nullopt
                          : parse_int(std::string_view(word).substr(equals + 1));
    if (!size || *size < 1 || *size > model::kLargestDim)
      return bad_input(
          fmt::format("--dim takes NAME=N with a size of at least 1, as in "
                      "--dim batch=1; {} is none",
                      in_quotes(word)));
    options.dims[word.substr(0, equals)] = *size;
  }
  return options;
}

}  // namespace assay::cli
