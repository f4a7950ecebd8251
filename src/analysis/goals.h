// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "footprint.h"

#include <string>
#include <vector>

namespace assay::analysis {

/// What the app reported about itself after the warm-up, merged over its processes, by name. Of a
/// counter all that was added is the one value.
Lines self_reported(const std::vector<Series>& recorded, const Window& window,
                    const std::vector<Goal>& goals);

/// A goal's metric is looked for among what the app reported, then among the footprint's lines,
/// where "cpu", "cores", "memory", "rss" and "power" are short for theirs; "duration" is the run's
/// length.
std::vector<GoalResult> check_goals(const std::vector<Goal>& goals, const RunAnalysis& analysis,
                                    Nanoseconds duration);

/// The unit to show a goal's value and bound in: the metric's own, else the one the user wrote
/// behind the bound ("200ms": seconds); empty when neither tells.
std::string unit_of(const Goal& goal, const RunAnalysis& analysis);

/// Whether the bound is written as a time or as bytes, and the metric is measured in something
/// else; such a goal is not met.
bool in_another_unit(const Goal& goal, const RunAnalysis& analysis);

/// "5 min" of "distance <= 5m": what the unit behind the bound was taken for.
std::string bound_as_read(const Goal& goal);

/// "latency.p95"; the mean goes without saying.
std::string name_of(const Goal& goal);

}  // namespace assay::analysis
