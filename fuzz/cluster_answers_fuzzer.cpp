// SPDX-License-Identifier: Apache-2.0
// What API servers answer about single objects, leases, resources and changes. What is taken is
// within its bounds, and what we would send for it is JSON.
#include "annotation_patch.h"
#include "answers.h"
#include "discovery_json.h"
#include "lease.h"
#include "object_json.h"
#include "write_answers.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

namespace {

using namespace assay::kubeapi;
using Json = nlohmann::json;

void require(bool holds) {
  if (!holds) __builtin_trap();
}

bool is_json(const std::string& text) {
  return Json::accept(text);
}

void check_lease(std::string_view text) {
  const auto lease = read_lease(text);
  if (!lease) return;
  require(!lease->version.empty() && lease->duration.count() >= 1000);
  const auto again = read_lease(held_lease(*lease, {"one", assay::Milliseconds(15'000), {}}));
  require(again && again->holder == "one" && again->version == lease->version);
}

void check_patches(std::string_view text) {
  const std::string value(text.substr(0, 1000));
  const ObjectName object{.resource = pods(), .name_space = "n", .name = value, .uid = value};
  require(is_json(apply_body(object, {{value, value}})));
  const MergePatch patch = merge_patch(text, {{"a", value}}, {});
  require(patch.body.empty() || (patch.taken.empty() && is_json(patch.body)));
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto meta = read_object(text)) require(!meta->name.empty() && !meta->uid.empty());
  if (const auto preferred = read_preferred(text))
    require(preferred->find('/') == std::string::npos);
  if (const auto groups = read_groups(text))
    for (const auto& group : *groups) require(group.name.find('/') == std::string::npos);
  if (const auto resources = read_resources(text))
    for (const auto& each : *resources) require(!each.plural.empty() && !each.kind.empty());
  (void)field_conflicts(text);
  (void)message_of(text);
  check_lease(text);
  check_patches(text);
  return 0;
}
