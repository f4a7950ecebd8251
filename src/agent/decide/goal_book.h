// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/samples/records.h>

namespace assay::agent {

/// The label or annotation that an app carries its goals in: "fps >= 10, latency.p95 <= 200ms".
constexpr std::string_view kGoalsLabel = "assay.goals";

constexpr size_t kMostGoals = 100;

/// Goals apart by commas, semicolons or lines. An error names the one that cannot be read.
Result<std::vector<Goal>> parse_goals(std::string_view text);

/// Whose goals are which, by the path of the app. What was set by a caller comes before what the
/// app's label says.
class GoalBook {
 public:
  void label(const std::string& path, std::vector<Goal> goals);
  void set(const std::string& path, std::vector<Goal> goals);
  /// Empty when it has none.
  const std::vector<Goal>& of(const std::string& path) const;
  void forget(const std::string& path);

  /// What callers have set, as JSON; empty when they have set nothing.
  std::string written() const;
  /// The paths that such a text has goals for, which count as set again. What cannot be read is
  /// left out.
  std::vector<std::string> read(std::string_view text);

 private:
  std::map<std::string, std::vector<Goal>> labelled_;
  std::map<std::string, std::vector<Goal>> set_;
};

}  // namespace assay::agent
