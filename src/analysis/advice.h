// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "footprint.h"

#include <span>
#include <vector>

namespace assay::analysis {

/// What the rules look at.
struct Facts {
  const RunRecord& run;
  const Device& device;
  const std::vector<Series>& recorded;
  const Window& window;
  const RunAnalysis& analysis;

  /// A line of the footprint; nullptr when it was not measured.
  const Distribution* app(const std::string& name) const { return find(analysis.footprint, name); }
  const Distribution* node(const std::string& name) const { return find(analysis.node, name); }
  /// Long enough that the costs of starting no longer dominate.
  bool long_enough() const { return window.length() >= std::chrono::seconds(5); }
};

/// Why an app got less CPU time than it asked for.
enum class Shortage : uint8_t { none, cpu_limit, busy_node };
Shortage shortage_of(const Facts& facts);

/// Looks for one thing. Nothing on a healthy run, and nothing where the evidence was not measured.
using Rule = std::optional<Advice> (*)(const Facts&);

/// About the app and the node it shares.
std::span<const Rule> app_rules();
/// About how far the measurements can be trusted.
std::span<const Rule> measurement_rules();

/// What all rules found, the gravest first.
std::vector<Advice> advise(const Facts& facts);

}  // namespace assay::analysis
