// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spec_yaml.h"

#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/samples/records.h>

/// One reader per kind of value. Each adds a problem for what it cannot use and gives the rest.
namespace assay::session {

/// The value as text; a problem when it is none.
std::optional<std::string> read_text(const Field& field, Problems& problems);
/// Words of one text by POSIX rules, or a list of words as they are; nothing written: no words.
std::optional<std::vector<std::string>> read_words(const Field& field, Problems& problems);
/// A number of seconds, or a number with a unit.
std::optional<Nanoseconds> read_duration(const Field& field, Problems& problems);
std::optional<int> read_repeat(const Field& field, Problems& problems);
std::optional<std::vector<std::string>> read_metrics(const Field& field, Problems& problems);
std::optional<std::string> read_runtime(const Field& field, Problems& problems);
std::map<std::string, std::string> read_env(const Field& field, Problems& problems);
std::vector<Goal> read_goals(const Field& field, Problems& problems);
Limits read_resources(const Field& field, Problems& problems);

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
