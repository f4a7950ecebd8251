// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/yaml.h>

namespace assay::agent {

/// One map of a config file. Each call names a key and where its value goes, which stays as it is
/// when the file does not have the key or has nonsense there; that is told as a problem. Keys that
/// nobody named are problems too.
class ConfigSection {
 public:
  /// `folder` is where relative paths start from.
  ConfigSection(const YAML::Node& map, const std::filesystem::path& folder, Problems& problems);

  ConfigSection& text(std::string_view key, std::string& value);
  /// A map of names to texts.
  ConfigSection& texts(std::string_view key, std::map<std::string, std::string>& values);
  /// '' for none.
  ConfigSection& path(std::string_view key, std::filesystem::path& value);
  ConfigSection& yes_no(std::string_view key, bool& value);
  ConfigSection& size(std::string_view key, uint64_t& value);

  struct Range {
    double least = 0;
    double most = 0;
  };
  /// `Number` is a double or may be absent.
  template <class Number>
  ConfigSection& number(std::string_view key, Range range, Number& value) {
    return with(key, [&](const Field& field) {
      if (const auto number = read_number(field, range)) value = *number;
    });
  }
  template <class Duration>
  ConfigSection& duration(std::string_view key, Nanoseconds least, Nanoseconds most,
                          Duration& value) {
    return with(key, [&](const Field& field) {
      if (const auto length = read_length(field, least, most))
        value = std::chrono::duration_cast<Duration>(*length);
    });
  }
  /// A map in this one: `read(section)` names its keys.
  template <class Read>
  ConfigSection& section(std::string_view key, Read read) {
    return with(key, [&](const Field& field) {
      if (!field.value.IsMap()) {
        wrong_type(field, "a map", "{key: value}", *problems_);
        return;
      }
      ConfigSection inner(field.value, folder_, *problems_);
      read(inner);
      inner.done();
    });
  }
  /// Whatever else: `read(field)`.
  template <class Read>
  ConfigSection& with(std::string_view key, Read read) {
    if (const Field* field = find(key)) read(*field);
    return *this;
  }
  /// To be called last.
  void done();

  const std::filesystem::path& folder() const { return folder_; }
  Problems& problems() { return *problems_; }

 private:
  const Field* find(std::string_view key);
  std::optional<double> read_number(const Field& field, Range range);
  std::optional<Nanoseconds> read_length(const Field& field, Nanoseconds least, Nanoseconds most);

  std::filesystem::path folder_;
  Problems* problems_;
  std::vector<Field> fields_;
  std::vector<std::string_view> known_;
};

}  // namespace assay::agent
