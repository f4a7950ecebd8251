// SPDX-License-Identifier: Apache-2.0
#include "config_section.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/base/wording.h>

namespace assay::agent {

ConfigSection::ConfigSection(const YAML::Node& map, const std::filesystem::path& folder,
                             Problems& problems)
    : folder_(folder), problems_(&problems), fields_(fields_of(map, problems)) {}

const Field* ConfigSection::find(std::string_view key) {
  known_.push_back(key);
  const auto found = std::find_if(fields_.begin(), fields_.end(),
                                  [&](const Field& field) { return field.key == key; });
  return found == fields_.end() ? nullptr : &*found;
}

ConfigSection& ConfigSection::text(std::string_view key, std::string& value) {
  return with(key, [&](const Field& field) {
    if (auto text = read_text(field, *problems_)) value = std::move(*text);
  });
}

ConfigSection& ConfigSection::texts(std::string_view key,
                                    std::map<std::string, std::string>& values) {
  return with(key, [&](const Field& field) {
    if (!field.value.IsMap()) {
      wrong_type(field, "a map", "{site: lake}", *problems_);
      return;
    }
    for (const auto& entry : fields_of(field.value, *problems_)) {
      if (auto text = read_text(entry, *problems_)) values[entry.key] = std::move(*text);
    }
  });
}

ConfigSection& ConfigSection::path(std::string_view key, std::filesystem::path& value) {
  return with(key, [&](const Field& field) {
    const auto text = read_scalar(field, "a path", "/run/assay/agent.sock", *problems_);
    if (text) value = text->empty() ? std::filesystem::path() : folder_ / *text;
  });
}

ConfigSection& ConfigSection::yes_no(std::string_view key, bool& value) {
  return with(key,
              [&](const Field& field) { value = read_yes_no(field, *problems_).value_or(value); });
}

ConfigSection& ConfigSection::size(std::string_view key, uint64_t& value) {
  return with(key, [&](const Field& field) {
    const auto text = read_scalar(field, "a size", "512MB", *problems_);
    if (!text) return;
    if (const auto bytes = parse_bytes(*text)) {
      value = *bytes;
    } else {
      problems_->add(field.line,
                     fmt::format("{}: {} is not a size; write for example 512MB or 2GiB", field.key,
                                 in_quotes(*text)));
    }
  });
}

std::optional<double> ConfigSection::read_number(const Field& field, Range range) {
  const auto text = read_scalar(field, "a number", fmt::to_string(range.most), *problems_);
  if (!text) return std::nullopt;
  const auto number = parse_double(*text);
  if (number && *number >= range.least && *number <= range.most) return number;
  problems_->add(field.line, fmt::format("{}: {} is not a number from {} to {}", field.key,
                                         in_quotes(*text), range.least, range.most));
  return std::nullopt;
}

std::optional<Nanoseconds> ConfigSection::read_length(const Field& field, Nanoseconds least,
                                                      Nanoseconds most) {
  const auto length = read_duration(field, *problems_);
  if (!length || (*length >= least && *length <= most)) return length;
  problems_->add(field.line, fmt::format("{}: {} is out of range; choose {} to {}", field.key,
                                         format_duration(*length), format_duration(least),
                                         format_duration(most)));
  return std::nullopt;
}

void ConfigSection::done() {
  std::sort(known_.begin(), known_.end());
  for (const auto& field : fields_) {
    if (!std::binary_search(known_.begin(), known_.end(), std::string_view(field.key)))
      unknown_key(field, known_, *problems_);
  }
}

}  // namespace assay::agent
