// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <assay/report/report.h>

namespace assay::cli {

/// What became of one kind of node.
struct MatrixRow {
  std::string kind;
  std::string node;                         ///< empty: none could be chosen
  std::optional<report::SessionView> view;  ///< nothing: `error` says why
  std::string error = {};
  bool interrupted = false;  ///< the user wanted no more
};

/// One line for each kind and run: duration, cores, memory, what the app reported, goals.
std::string matrix_text(const std::string& label, const std::vector<MatrixRow>& rows);
/// {"schema", "label", "kinds": [{"kind", "node", "session" or "error"}]}.
Json matrix_document(const std::string& label, const std::vector<MatrixRow>& rows);

}  // namespace assay::cli
