// SPDX-License-Identifier: Apache-2.0
#include "annotation_patch.h"

#include "object_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/kubeapi/json_at.h>

namespace assay::kubeapi {
namespace {

using Json = nlohmann::json;

/// Bytes that are no text are replaced.
std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// JSON allows control characters of more than one byte as they are, and YAML does not.
std::string for_yaml(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    const auto byte = static_cast<unsigned char>(json[i]);
    const auto next = i + 1 < json.size() ? static_cast<unsigned char>(json[i + 1]) : 0U;
    if (byte == 0x7fU) {
      text += "\\u007f";
    } else if (byte == 0xc2U && next < 0xa0U) {
      text += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      text += json[i];
    }
  }
  return text;
}

}  // namespace

std::string apply_body(const ObjectName& object, const Annotations& annotations) {
  Json metadata = {{"name", object.name}, {"uid", object.uid}};
  if (object.resource.namespaced) metadata["namespace"] = object.name_space;
  if (!annotations.empty()) metadata["annotations"] = annotations;
  return for_yaml(dumped({{"apiVersion", object.resource.api_version()},
                          {"kind", object.resource.kind},
                          {"metadata", std::move(metadata)}}));
}

MergePatch merge_patch(std::string_view object, const Annotations& annotations,
                       const AnnotationOptions& options) {
  const Json json = Json::parse(object, nullptr, false);
  const Json& metadata = at(json, "metadata");
  const Json& present = at(metadata, "annotations");
  const auto owned = owned_annotations(json, options.manager);
  Json changes = Json::object();
  for (const auto& [key, value] : annotations) {
    const Json& now = at(present, key.c_str());
    if (now == value && owned.contains(key)) continue;
    if (!now.is_null() && now != value && !owned.contains(key) && !options.force)
      return {.taken = key};
    if (now != value) changes[key] = value;
  }
  for (const auto& key : owned)
    if (!annotations.contains(key) && !at(present, key.c_str()).is_null()) changes[key] = nullptr;
  if (changes.empty()) return {};
  return {.body = dumped({{"metadata",
                           {{"uid", text_at(metadata, "uid")},
                            {"resourceVersion", text_at(metadata, "resourceVersion")},
                            {"annotations", std::move(changes)}}}})};
}

}  // namespace assay::kubeapi
