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
  std::string error = {};    ///< also of a session that could not do all: a Job that stays
  bool interrupted = false;  ///< the user wanted no more
  int code = 0;              ///< for which `assay run` would exit
};

/// One line for each kind and run: duration, cores, memory, what the app reported, goals.
std::string matrix_text(const std::string& label, const std::vector<MatrixRow>& rows);
/// A line for each kind that something went wrong with; matrix_text() ends with them.
std::string matrix_errors(const std::vector<MatrixRow>& rows);
/// {"schema", "label", "kinds": [{"kind", "node", "session" or "error"}]}.
Json matrix_document(const std::string& label, const std::vector<MatrixRow>& rows);

}  // namespace assay::cli
