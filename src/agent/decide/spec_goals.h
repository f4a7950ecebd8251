// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/problems.h>
#include <assay/samples/records.h>

namespace assay::agent {

/// What a spec (sage.yaml) says about the goals of an app.
struct SpecGoals {
  std::string name;
  std::string name_space;
  std::string version;  ///< empty: any
  std::vector<Goal> goals;

  /// Whether the image is this app: "waggle/objcounter:0.1.0", with or without a registry before
  /// it.
  bool is_of(std::string_view image) const;
};

SpecGoals parse_spec_goals(const std::string& text, Problems& problems);

struct SpecFolder {
  std::vector<SpecGoals> specs;
  std::vector<Diagnostic> errors;
};
/// Of every *.yaml in the folder and in the folders right below it.
SpecFolder read_specs(const std::filesystem::path& folder);

}  // namespace assay::agent
