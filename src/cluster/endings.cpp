// SPDX-License-Identifier: Apache-2.0
#include "endings.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include <assay/kubeapi/json_at.h>
#include <assay/kubeapi/writes.h>

namespace assay::cluster {

bool says_ended(const std::string& object_json) {
  constexpr std::array<std::string_view, 4> kEnds = {"Complete", "Completed", "Failed",
                                                     "Succeeded"};
  using kubeapi::text_at;
  const auto json = nlohmann::json::parse(object_json, nullptr, false);
  const auto& conditions = kubeapi::at(kubeapi::at(json, "status"), "conditions");
  return conditions.is_array() &&
         std::any_of(conditions.begin(), conditions.end(), [&](const auto& condition) {
           return text_at(condition, "status") == "True" &&
                  std::find(kEnds.begin(), kEnds.end(), text_at(condition, "type")) != kEnds.end();
         });
}

void ask_for_ends(Tracker& tracker, kubeapi::Client& client, kubeapi::RateLimiter& limiter,
                  Timestamp now, net::Stopper& stopper) {
  for (const auto& uid : tracker.unsure_jobs()) {
    if (stopper.stopped() || limiter.take() > Milliseconds(0)) return;
    auto& job = tracker.jobs().at(uid);
    job.asked = now;
    const auto object = kubeapi::get_object(client, job.object, stopper);
    // A server that is away would be waited for by each of them.
    if (!object && object.error().temporary) return;
    if (!object || (*object && !says_ended(**object))) continue;
    job.ended = job.gone = job.unsaved = true;
  }
}

}  // namespace assay::cluster
