// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include <assay/placement/candidates.h>
#include <assay/placement/deploy.h>
#include <assay/placement/workers.h>

namespace assay::placement {

/// A model that was started where its ranking said: what was told of it, and what it really took.
struct PlacedModel {
  std::string model;
  model::Characteristics characteristics;
  Candidate candidate;
  predict::Device device;  ///< that the prediction was of
  int threads = 0;
  std::string worker;   ///< its name
  std::string address;  ///< that it serves at
  Deployed deployed;

  double ratio() const { return deployed.median() / candidate.seconds; }
  bool inside() const {
    return deployed.median() >= candidate.low && deployed.median() <= candidate.high;
  }
};

/// A model that is to be started where its ranking says.
struct PlacingOrder {
  std::string name;  ///< of the model
  std::filesystem::path file;
  model::Characteristics characteristics;
  Candidate candidate;
  std::vector<predict::Device> devices;  ///< that were learned
  std::string image;                     ///< of the worker
};
/// Asked several times a second while something is waited for; false gives up.
using Wanted = std::function<bool()>;
/// Where workers of a node are started.
using FindHost = std::function<Result<std::unique_ptr<WorkerHost>>(const std::string& node,
                                                                   const Wanted& wanted)>;
/// Those that were started before.
using ListWorkers = std::function<Result<Workers>(const Wanted& wanted)>;

/// Starts it and measures it there. Where this fails, nothing stays that was not there before.
Result<PlacedModel> place(const PlacingOrder& order, const FindHost& find_host,
                          const DeployListener& listener);

/// The device that the node was told by; where it is only one of the same model, its name is kept,
/// since what was learned has that name, and the node's own identity.
predict::Device device_of(const Node& node, const std::vector<predict::Device>& devices);

/// Adds it to the table that `assay train` learns from.
Result<void> keep(const std::filesystem::path& table, const PlacedModel& placed);
nlohmann::json placed_document(const PlacedModel& placed);
/// In a few lines, for people.
std::string placed_text(const PlacedModel& placed);

}  // namespace assay::placement
