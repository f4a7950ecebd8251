// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <yaml-cpp/yaml.h>

#include <assay/base/problems.h>
#include <assay/base/time.h>

namespace assay {

/// Larger files are refused: ours are written by hand, and YAML in memory is 300 times its text.
constexpr size_t kLargestYaml = 256U << 10U;

/// What a file is meant to be, for messages about one that is none.
struct YamlUse {
  std::string_view what;     ///< "a spec"
  std::string_view least;    ///< what it needs: "write at least a name"
  std::string_view example;  ///< of a key with its value: "name: my-app"
};

/// A key with its value, as found in the file.
struct Field {
  std::string key;
  YAML::Node value;
  int line = 0;  ///< of the value where it has one, else of the key
};

/// The one document in `text`, which must be a map. Foreign exceptions end here.
std::optional<YAML::Node> load_map(const std::string& text, const YamlUse& use, Problems& problems);

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

// One reader per kind of value. Each adds a problem for what it cannot use.

/// The scalar behind a field; what YAML escapes may smuggle in and no program can be given is out.
std::optional<std::string> read_scalar(const Field& field, std::string_view expected,
                                       std::string_view example, Problems& problems);
/// The value as text; a problem when it is none.
std::optional<std::string> read_text(const Field& field, Problems& problems);
/// A number of seconds, or a number with a unit.
std::optional<Nanoseconds> read_duration(const Field& field, Problems& problems);
/// "true" or "false", as YAML spells them.
std::optional<bool> read_yes_no(const Field& field, Problems& problems);

/// The items of a list as fields of the same key, each with its own line; what is no list is its
/// own only item.
std::vector<Field> items_of(const Field& field);
/// The same for a list of at most `most` maps; a problem, and left out, for what is none.
std::vector<Field> maps_of(const Field& field, size_t most, std::string_view example,
                           Problems& problems);
void wrong_type(const Field& field, std::string_view expected, std::string_view example,
                Problems& problems);
/// A key that is none of `known`.
void unknown_key(const Field& field, std::span<const std::string_view> known, Problems& problems);

/// The value of a result, or nothing and its error as a problem of `field`.
template <class T>
std::optional<T> keep(Result<T> result, const Field& field, Problems& problems) {
  if (result) return std::move(*result);
  problems.add(field.line, fmt::format("{}: {}", field.key, result.error().message));
  return std::nullopt;
}
inline bool keep(const Result<void>& result, const Field& field, Problems& problems) {
  if (!result) problems.add(field.line, fmt::format("{}: {}", field.key, result.error().message));
  return result.has_value();
}

}  // namespace assay
