// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decide/goal_book.h"
#include "decide/level_history.h"
#include "decide/recent_use.h"
#include "decide/verdict.h"
#include "live_table.h"
#include "reports.h"

#include <functional>
#include <map>
#include <string>

namespace assay::agent {

/// What is decided about one app.
struct Decision {
  std::string name;  ///< what people call it
  Evidence evidence = {};
  Held main = {};
  Held leak = {};  ///< an app can leak whatever else is true of it

  RecentUse recent = {};
  LevelHistory memory = {};
};

/// Compares what apps do with their goals, at each beat.
class Decisions {
 public:
  /// Told when something else is true of an app than before.
  using OnChange = std::function<void(const std::string& path, const Decision& decision)>;

  Decisions(const SysRoot& root, LiveTable& table, const Reports& reports, const GoalBook& goals);

  void on_change(OnChange call) { on_change_ = std::move(call); }
  void beat(Timestamp now);

  /// By path; those without goals are here too, since they can leak.
  const std::map<std::string, Decision>& all() const { return apps_; }
  const Decision* of(const std::string& path) const;

 private:
  void decide(const std::string& path, LiveApp* app, Timestamp now);
  void gather_use(LiveApp& app, Decision& decision, Timestamp now) const;
  void gather_goals(const std::string& path, const LiveApp* app, Decision& decision,
                    Timestamp now) const;
  void read_node(Timestamp now);

  SysRoot root_;
  LiveTable& table_;
  const Reports& reports_;
  const GoalBook& goals_;
  OnChange on_change_;
  std::map<std::string, Decision> apps_;

  struct NodeReading {
    Timestamp time{};
    double idle_seconds = 0;
  };
  static constexpr size_t kNodeReadings = 6;
  std::array<NodeReading, kNodeReadings> node_{};
  size_t node_next_ = 0;
  double node_cores_ = kUnknown;
  double node_idle_cores_ = kUnknown;
};

}  // namespace assay::agent
