// SPDX-License-Identifier: Apache-2.0
#include "lease.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/kubeapi/json_at.h>

namespace assay::kubeapi {
namespace {

using Json = nlohmann::json;

constexpr int64_t kLongestDuration = 3600;

int64_t number_at(const Json& json, const char* key) {
  const Json& value = at(json, key);
  return value.is_number_integer() ? value.get<int64_t>() : 0;
}

/// The server wants six decimals, neither more nor fewer.
std::string micro_time(Timestamp wall) {
  std::string text = format_utc(wall);
  text.pop_back();
  return text + "000Z";
}

int64_t whole_seconds(Milliseconds time) {
  return std::max<int64_t>(1, std::chrono::ceil<std::chrono::seconds>(time).count());
}

void hold_spec(Json& spec, const Hold& hold) {
  spec["holderIdentity"] = hold.holder;
  spec["leaseDurationSeconds"] = whole_seconds(hold.duration);
  spec["renewTime"] = micro_time(hold.wall);
}

}  // namespace

Result<Lease> read_lease(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  const Json& spec = at(json, "spec");
  Lease lease{.text = std::string(text),
              .version = text_at(at(json, "metadata"), "resourceVersion"),
              .holder = text_at(spec, "holderIdentity"),
              .renewed = text_at(spec, "renewTime"),
              .transitions = number_at(spec, "leaseTransitions"),
              .duration = std::chrono::seconds(std::clamp<int64_t>(
                  number_at(spec, "leaseDurationSeconds"), 1, kLongestDuration))};
  if (lease.version.empty()) return refused("what the API server answers is no lease");
  return lease;
}

std::string new_lease(const std::string& name_space, const std::string& name, const Hold& hold) {
  Json lease = {{"apiVersion", "coordination.k8s.io/v1"},
                {"kind", "Lease"},
                {"metadata", {{"name", name}, {"namespace", name_space}}},
                {"spec", {{"acquireTime", micro_time(hold.wall)}, {"leaseTransitions", 0}}}};
  hold_spec(lease["spec"], hold);
  return lease.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string held_lease(const Lease& lease, const Hold& hold) {
  Json json = Json::parse(lease.text, nullptr, false);
  if (!json.is_object()) json = Json::object();
  Json& spec = json["spec"];
  if (!spec.is_object()) spec = Json::object();
  if (hold.holder != lease.holder) {
    spec["acquireTime"] = micro_time(hold.wall);
    // Past any sensible number it begins again.
    if (!hold.holder.empty()) spec["leaseTransitions"] = (lease.transitions & 0xffffff) + 1;
  }
  hold_spec(spec, hold);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace assay::kubeapi
