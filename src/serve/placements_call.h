// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/model/inspect.h>
#include <assay/placement/rank.h>

namespace assay::serve {

/// A model that is to be placed: one that was sent before, or one by its counts.
struct ModelCall {
  std::string name;
  std::string id;  ///< empty: by `counts`
  model::Counts counts;
};

/// The body of POST /api/v1/placements; docs/serve.md has it.
struct PlacementsCall {
  std::vector<ModelCall> models;
  placement::Goals goals;
  std::map<std::string, double> loads;  ///< of nodes, in place of what is known
  std::optional<double> network;        ///< bytes a second
  std::string engine;                   ///< that will run them; empty: on each node the best
  bool deploy = false;                  ///< start each model where it should go
};
Result<PlacementsCall> parse_placements_call(const std::string& body);

}  // namespace assay::serve
