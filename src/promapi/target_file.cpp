// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <assay/base/files.h>
#include <assay/promapi/labels.h>
#include <assay/promapi/target_file.h>

namespace assay::promapi {
namespace {

/// Unlike a series' labels these may begin with "__", which tells how to scrape.
std::string label_name(std::string_view name) {
  if (name.starts_with("__")) return "__" + sanitized_label_name(name.substr(2));
  return sanitized_label_name(name);
}

nlohmann::json json_of(const TargetGroup& group) {
  auto labels = nlohmann::json::object();
  for (const auto& [name, value] : group.labels) labels[label_name(name)] = valid_utf8(value);
  auto targets = nlohmann::json::array();
  for (const auto& target : group.targets) targets.push_back(valid_utf8(target));
  return {{"targets", std::move(targets)}, {"labels", std::move(labels)}};
}

}  // namespace

Result<void> write_target_file(const std::filesystem::path& file,
                               std::span<const TargetGroup> groups) {
  auto json = nlohmann::json::array();
  for (const auto& group : groups) json.push_back(json_of(group));
  const std::string text = json.dump(2) + "\n";
  if (const auto before = read_file(file); before && *before == text) return {};
  return write_file(file, text);
}

}  // namespace assay::promapi
