// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "state.h"

#include <cstdint>
#include <string>
#include <vector>

#include <assay/kubeapi/annotations.h>

namespace assay::cluster {

/// A number of an object's annotations, and the difference from which on it is worth telling: the
/// larger of `tolerance` and `share` of what it was or is.
struct Figure {
  float value = 0;
  float tolerance = 1;
  float share = 0;
};

/// What an object's annotations are about, to tell whether that differs much from what was written.
struct Figures {
  std::vector<Figure> numbers;
  uint64_t facts = 0;  ///< of all that is no number: a difference is material
};

struct RenderRules {
  std::string domain = "ai.centaurus.io";
  /// Of all our keys and values on an object; the cluster allows 256 KiB with those of others.
  size_t most_bytes = size_t{128} << 10U;
};

/// Values are JSON, spaced as Python prints it, so that whoever looks for words finds them.
kubeapi::Annotations annotations_of(const NodeState& node, const RenderRules& rules);
kubeapi::Annotations annotations_of(const PodState& pod, const RenderRules& rules);
/// One key for each worker; when they are too many, those that were there last.
kubeapi::Annotations annotations_of(const JobState& job, const RenderRules& rules);

/// Cheap, for all objects in each round: percentages to 5 points, amounts to a tenth, and what
/// swings all the time by how far it does.
Figures figures_of(const NodeState& node);
Figures figures_of(const PodState& pod);
Figures figures_of(const JobState& job);

/// How much has changed since; 1 and more is material. What was never published has changed much.
double change(const Published& before, const Figures& now);
void remember(Published& published, const Figures& written, Timestamp now);

/// What the cluster takes as the part of a key behind the "/": 63 letters, digits, "-", "_", ".".
/// Longer ones are cut and end in a number that tells them apart.
std::string key_part(const std::string& text);

}  // namespace assay::cluster
