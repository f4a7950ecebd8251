// SPDX-License-Identifier: Apache-2.0
#include "deployments.h"

#include <nlohmann/json.hpp>

namespace assay::serve {

nlohmann::json Deployments::deploy(placement::PlacingOrder order) {
  order.image = image_;
  const placement::DeployListener listener{.doing = [](const std::string&) {},
                                           .wanted = [this] { return !stopping_; }};
  const auto placed = placement::place(order, find_host_, listener);
  if (!placed) return {{"error", placed.error().message}};
  auto document = placement::placed_document(*placed);
  if (const auto kept = placement::keep(table_, *placed); !kept)
    document["not_kept"] = kept.error().message;
  return document;
}

Result<placement::Workers> Deployments::list() const {
  return list_workers_([this] { return !stopping_; });
}

}  // namespace assay::serve
