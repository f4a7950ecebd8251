// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spec_yaml.h"

#include <fmt/format.h>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/samples/records.h>

/// One reader per kind of value. Each adds a problem for what it cannot use and gives the rest.
namespace assay::session {

/// What `dataset` says.
struct DatasetSource {
  std::string source;
  std::string sha256;  ///< empty: not given
};

/// The scalar behind a field; what YAML escapes may smuggle in and no program can be given is out.
std::optional<std::string> read_scalar(const Field& field, std::string_view expected,
                                       std::string_view example, Problems& problems);
/// The value as text; a problem when it is none.
std::optional<std::string> read_text(const Field& field, Problems& problems);
/// Words of one text by POSIX rules, or a list of words as they are; nothing written: no words.
std::optional<std::vector<std::string>> read_words(const Field& field, Problems& problems);
/// A number of seconds, or a number with a unit.
std::optional<Nanoseconds> read_duration(const Field& field, Problems& problems);
std::optional<int> read_repeat(const Field& field, Problems& problems);
std::optional<std::vector<std::string>> read_metrics(const Field& field, Problems& problems);
std::optional<std::string> read_runtime(const Field& field, Problems& problems);
/// "true" or "false", as YAML spells them.
std::optional<bool> read_yes_no(const Field& field, Problems& problems);
std::map<std::string, std::string> read_env(const Field& field, Problems& problems);
std::vector<Goal> read_goals(const Field& field, Problems& problems);
Limits read_resources(const Field& field, Problems& problems);
std::optional<std::vector<std::string>> read_docker_args(const Field& field, Problems& problems);
std::optional<DatasetSource> read_dataset(const Field& field, Problems& problems);
std::optional<std::vector<Stream>> read_playback(const Field& field, Problems& problems);
std::optional<std::vector<Need>> read_needs(const Field& field, Problems& problems);

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

}  // namespace assay::session
