// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/base/wording.h>
#include <assay/base/yaml.h>

namespace assay {

void wrong_type(const Field& field, std::string_view expected, std::string_view example,
                Problems& problems) {
  problems.add(field.line, fmt::format("{}: must be {}, not {}; write for example {}", field.key,
                                       expected, kind_of(field.value), example));
}

std::optional<std::string> read_scalar(const Field& field, std::string_view expected,
                                       std::string_view example, Problems& problems) {
  if (!field.value.IsScalar()) {
    wrong_type(field, expected, example, problems);
    return std::nullopt;
  }
  if (field.value.Scalar().find('\0') != std::string::npos) {
    problems.add(field.line, fmt::format("{}: has a NUL character; remove it", field.key));
    return std::nullopt;
  }
  if (!is_utf8(field.value.Scalar())) {
    problems.add(field.line, fmt::format("{}: an escape is no character; correct it", field.key));
    return std::nullopt;
  }
  return field.value.Scalar();
}

std::vector<Field> items_of(const Field& field) {
  if (!field.value.IsSequence()) return {field};
  std::vector<Field> items;
  for (const YAML::Node& node : field.value) items.push_back({field.key, node, line_of(node)});
  return items;
}

std::vector<Field> maps_of(const Field& field, size_t most, std::string_view example,
                           Problems& problems) {
  std::vector<Field> maps;
  for (const auto& item : items_of(field)) {
    if (!item.value.IsMap()) {
      wrong_type(item, "a map or a list of maps", example, problems);
    } else if (maps.size() == most) {
      problems.add(item.line, fmt::format("{}: too many; the most is {}", field.key, most));
      break;
    } else {
      maps.push_back(item);
    }
  }
  return maps;
}

void unknown_key(const Field& field, std::span<const std::string_view> known, Problems& problems) {
  problems.add(field.line,
               fmt::format("unknown key {}{}", in_quotes(field.key), suggestion(field.key, known)));
}

std::optional<std::string> read_text(const Field& field, Problems& problems) {
  auto text = read_scalar(field, "text", fmt::format("\"{}: x\"", field.key), problems);
  if (text && trim(*text).empty()) {
    problems.add(field.line,
                 fmt::format("{}: is empty; give a value or remove the key", field.key));
    return std::nullopt;
  }
  return text;
}

std::optional<Nanoseconds> read_duration(const Field& field, Problems& problems) {
  const auto text = read_scalar(field, "a duration", "120 (seconds), 500ms or 2m", problems);
  if (!text) return std::nullopt;
  if (const auto duration = parse_duration(*text)) return *duration;
  problems.add(field.line,
               fmt::format("{}: {} is not a duration; write for example 500ms, 90s or 2m",
                           field.key, in_quotes(*text)));
  return std::nullopt;
}

std::optional<bool> read_yes_no(const Field& field, Problems& problems) {
  const auto text = read_scalar(field, "true or false", "true", problems);
  bool value = false;
  if (!text) return std::nullopt;
  if (YAML::convert<bool>::decode(field.value, value)) return value;
  problems.add(field.line,
               fmt::format("{}: {} is neither true nor false", field.key, in_quotes(*text)));
  return std::nullopt;
}

}  // namespace assay
