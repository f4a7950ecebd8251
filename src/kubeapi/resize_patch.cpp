// SPDX-License-Identifier: Apache-2.0
#include "resize_patch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/kubeapi/json_at.h>

namespace assay::kubeapi {
namespace {

using Json = nlohmann::json;

struct Wanted {
  const char* resource;
  double value;
  std::string text;
};

const Json* find_named(const Json& list, const char* key, std::string_view name) {
  if (!list.is_array()) return nullptr;
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&](const Json& each) { return text_at(each, key) == name; });
  return found == list.end() ? nullptr : &*found;
}

std::vector<Wanted> wanted_of(const Resize& resize) {
  std::vector<Wanted> all;
  if (resize.cores)
    all.push_back({"cpu", *resize.cores, fmt::format("{}m", std::llround(*resize.cores * 1000))});
  if (resize.memory_bytes)
    all.push_back({"memory", static_cast<double>(*resize.memory_bytes),
                   fmt::to_string(*resize.memory_bytes)});
  return all;
}

Result<void> check(const Json& container, const Wanted& wanted, bool guaranteed) {
  const Json& resources = at(container, "resources");
  if (wanted.value <= 0) return refused("a limit cannot be taken away from a pod that runs");
  if (text_at(at(resources, "limits"), wanted.resource).empty())
    return refused(
        fmt::format("its spec has no limit of {}, and one that is added stays", wanted.resource));
  const Json* const policy =
      find_named(at(container, "resizePolicy"), "resourceName", wanted.resource);
  if (policy != nullptr && text_at(*policy, "restartPolicy") == "RestartContainer")
    return refused(
        fmt::format("its spec wants it started anew for another limit of {}", wanted.resource));
  const auto promised = parse_quantity(text_at(at(resources, "requests"), wanted.resource));
  if (!guaranteed && promised && wanted.value < *promised)
    return refused(fmt::format("its spec requests more {} than that", wanted.resource));
  return {};
}

std::string patch_of(const std::string& container, const Json& resources) {
  const Json patch = {
      {"spec", {{"containers", Json::array({{{"name", container}, {"resources", resources}}})}}}};
  return patch.dump();
}

}  // namespace

std::optional<double> parse_quantity(std::string_view text) {
  struct Suffix {
    std::string_view text;
    double worth;
  };
  constexpr std::array<Suffix, 16> kSuffixes = {{{"Ki", 0x1p10},
                                                 {"Mi", 0x1p20},
                                                 {"Gi", 0x1p30},
                                                 {"Ti", 0x1p40},
                                                 {"Pi", 0x1p50},
                                                 {"Ei", 0x1p60},
                                                 {"n", 1e-9},
                                                 {"u", 1e-6},
                                                 {"m", 1e-3},
                                                 {"k", 1e3},
                                                 {"M", 1e6},
                                                 {"G", 1e9},
                                                 {"T", 1e12},
                                                 {"P", 1e15},
                                                 {"E", 1e18},
                                                 {"", 1}}};
  for (const auto& suffix : kSuffixes) {
    if (!text.ends_with(suffix.text)) continue;
    const auto number = parse_double(text.substr(0, text.size() - suffix.text.size()));
    return number ? std::optional(*number * suffix.worth) : std::nullopt;
  }
  return std::nullopt;
}

bool runs_container(std::string_view pod, const std::string& id) {
  const Json json = Json::parse(pod, nullptr, false);
  const Json& statuses = at(at(json, "status"), "containerStatuses");
  if (id.empty()) return true;
  return statuses.is_array() &&
         std::any_of(statuses.begin(), statuses.end(), [&](const Json& status) {
           return text_at(status, "containerID").ends_with(id);
         });
}

Result<ResizePatches> resize_patch(std::string_view pod, const Resize& wanted) {
  const Json json = Json::parse(pod, nullptr, false);
  const Json* const container =
      find_named(at(at(json, "spec"), "containers"), "name", wanted.container);
  if (container == nullptr) return refused("its pod's spec has no such container");
  // Such a pod would not stay what it is if it asked for less than it may use.
  const bool guaranteed = text_at(at(json, "status"), "qosClass") == "Guaranteed";
  Json then = Json::object();
  Json now = Json::object();
  for (const auto& each : wanted_of(wanted)) {
    ASSAY_CHECK(check(*container, each, guaranteed));
    then["limits"][each.resource] = each.text;
    now["limits"][each.resource] = (*container)["resources"]["limits"][each.resource];
  }
  if (guaranteed) {
    then["requests"] = then["limits"];
    now["requests"] = now["limits"];
  }
  return ResizePatches{patch_of(wanted.container, then), patch_of(wanted.container, now)};
}

}  // namespace assay::kubeapi
