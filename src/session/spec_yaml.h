// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spec_problems.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <yaml-cpp/yaml.h>

namespace assay::session {

/// Larger files are refused: a spec is written by hand, and YAML in memory is 300 times its text.
constexpr size_t kLargestSpec = 256U << 10U;

/// A key with its value, as found in the file.
struct Field {
  std::string key;
  YAML::Node value;
  int line = 0;  ///< of the value where it has one, else of the key
};

/// The one document in `text`, which must be a map. Foreign exceptions end here.
std::optional<YAML::Node> load_map(const std::string& text, Problems& problems);

/// The fields of a map in the order of the file; a key that is given twice is a problem.
std::vector<Field> fields_of(const YAML::Node& map, Problems& problems);
/// The same for a map that is not ours alone: only the keys in `ours` are looked at that closely.
std::vector<Field> fields_of(const YAML::Node& map, std::span<const std::string_view> ours,
                             Problems& problems);

/// Whether a text is well-formed UTF-8; JSON can hold no other.
bool is_utf8(std::string_view text);
int line_of(const YAML::Node& node);
/// "text", "a list", "a map", "nothing".
std::string_view kind_of(const YAML::Node& node);

}  // namespace assay::session
