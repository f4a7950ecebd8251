// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include <assay/base/result.h>

namespace assay::agent {

/// The limits that an app had before they were changed; 0: none.
struct Original {
  LimitChange limits = {};
  /// A pod starts a container that ended anew, under another path.
  std::string pod_uid = {};
  std::string container = {};

  friend bool operator==(const Original&, const Original&) = default;
};
using Originals = std::map<std::string, Original>;  ///< by path

/// What is no such text gives nothing: a broken file must not change any limit.
Originals parse_originals(std::string_view text);
std::string to_text(const Originals& originals);

/// Remembers them on disk, so that a daemon that was killed puts them back at its next start.
/// Without a path nothing is remembered.
class UndoFile {
 public:
  explicit UndoFile(std::filesystem::path file) : file_(std::move(file)) {}
  Originals load() const;
  Result<void> save(const Originals& originals) const;

 private:
  std::filesystem::path file_;
};

}  // namespace assay::agent
