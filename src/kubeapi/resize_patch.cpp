// SPDX-License-Identifier: Apache-2.0
#include "resize_patch.h"

#include "json_at.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::kubeapi {
namespace {

using Json = nlohmann::json;

const Json* find_named(const Json& list, const char* key, std::string_view name) {
  if (!list.is_array()) return nullptr;
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const Json& each) { return text_at(each, key) == name; });
  return found == list.end() ? nullptr : &*found;
}

Result<void> check(const Json& container, const char* resource) {
  if (at(at(at(container, "resources"), "limits"), resource).is_null())
    return refused(
        fmt::format("its spec has no limit of {}, and one that is added stays", resource));
  const Json* const policy = find_named(at(container, "resizePolicy"), "resourceName", resource);
  if (policy != nullptr && text_at(*policy, "restartPolicy") == "RestartContainer")
    return refused(fmt::format("its spec wants it started anew for another limit of {}", resource));
  return {};
}

}  // namespace

Result<std::string> resize_patch(std::string_view pod, const Resize& wanted) {
  const Json json = Json::parse(pod, nullptr, false);
  const Json* const container =
      find_named(at(at(json, "spec"), "containers"), "name", wanted.container);
  if (container == nullptr) return refused("its pod has no container of that name");
  Json limits = Json::object();
  if (wanted.cores) {
    ASSAY_CHECK(check(*container, "cpu"));
    limits["cpu"] = fmt::format("{}m", std::llround(*wanted.cores * 1000));
  }
  if (wanted.memory_bytes) {
    ASSAY_CHECK(check(*container, "memory"));
    limits["memory"] = fmt::to_string(*wanted.memory_bytes);
  }
  if (wanted.cores == 0.0 || wanted.memory_bytes == 0U)
    return refused("a limit cannot be taken away from a pod that runs");
  Json resources = {{"limits", limits}};
  // Such a pod would not stay what it is if it asked for less than it may use.
  if (text_at(at(json, "status"), "qosClass") == "Guaranteed") resources["requests"] = limits;
  const Json patch = {
      {"spec",
       {{"containers", Json::array({{{"name", wanted.container}, {"resources", resources}}})}}}};
  return patch.dump();
}

}  // namespace assay::kubeapi
