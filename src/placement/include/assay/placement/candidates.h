// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <assay/base/result.h>
#include <assay/placement/fleet.h>
#include <assay/predict/predictor.h>

namespace assay::placement {

/// A model that is to be placed, by all that its file tells or by the old counts alone.
struct Question {
  std::string name;
  std::variant<model::Characteristics, model::Counts> model;
  std::optional<double> network = {};  ///< bytes a second to whoever asks; else the devices' own
  std::string engine = {};             ///< that will run it; empty: on each node the best
};

/// What one node would make of a model, with its best engine.
struct Candidate {
  Node node;
  std::string engine = {};
  double threads = 0;  ///< of the engine, that the time was told for; 0: as many as there are cores
  double seconds = 0;
  double low = 0;  ///< four of five times lie between low and high
  double high = 0;
  double idle_seconds = 0;  ///< what it would be if nothing else ran there
  std::string doubt = {};   ///< why there is more doubt than the interval says
  /// Of what goes in and comes out, over the network; nothing where its speed is not known.
  std::optional<double> transfer_seconds = {};
  std::optional<double> memory_needed = {};  ///< not known from the old counts
  std::optional<double> joules = {};

  double total_seconds() const { return seconds + transfer_seconds.value_or(0); }
};

struct Candidates {
  std::vector<Candidate> list;
  std::vector<LeftOut> left_out;  ///< of the fleet, and nodes of a kind that nothing was learned of
};

/// Whether anything was learned of it.
Result<void> check_engine(const predict::Predictor& predictor, const std::string& engine);

/// In the order of the fleet.
Candidates candidates(const predict::Predictor& predictor, const Fleet& fleet,
                      const Question& question);

}  // namespace assay::placement
