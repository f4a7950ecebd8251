// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control.h"
#include "decide/decisions.h"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/agent/agent.h>

namespace assay::agent {

/// What the machine has, as an upper end of every limit.
struct NodeSize {
  double cores = 0;
  uint64_t memory_bytes = 0;
};

/// A change of one app's limit, with its reason.
struct Step {
  enum class Kind : uint8_t { lower, raise, undo, give_back };
  Kind kind = Kind::lower;
  std::string path;
  std::string name;
  LimitChange to;    ///< 0: no limit
  LimitChange from;  ///< the same of what was before
  std::string reason;
};
std::string_view to_string(Step::Kind kind);
/// "lower camera: cores 1.00 -> 0.75: because ...".
std::string in_words(const Step& step);

/// Whether the operator lets this limit be set at all; an error names the bound.
Result<void> check_bounds(const LimitChange& change, const ActSettings& bounds,
                          const NodeSize& node);

/// Decides which limit to change next so that apps reach their goals: one small step at a time,
/// looked at before the next, and undone when it made things worse. Pure: somebody else makes the
/// steps and tells about it.
class Steward {
 public:
  Steward(ActSettings settings, NodeSize node) : settings_(std::move(settings)), node_(node) {}

  /// The step that is due now, if any.
  std::optional<Step> next(const std::map<std::string, Decision>& apps, Timestamp now);
  void made(const Step& step, const std::map<std::string, Decision>& apps, Timestamp now);
  /// The step could not be made: the app is left alone for a while.
  void failed(const Step& step, Timestamp now);
  /// What takes back all changes of cores. Memory that was given stays: to take it away could end
  /// the app.
  std::vector<Step> put_back() const;
  /// The app is gone, or somebody else decides about its cores now.
  void forget(const std::string& path);
  void set(ActSettings settings) { settings_ = std::move(settings); }

 private:
  using Apps = std::map<std::string, Decision>;
  struct App {
    std::string name;
    std::optional<double> original = {};  ///< cores before the first change; 0: no limit
    std::optional<double> current = {};   ///< as they were set last
    double least_cores = 0;               ///< less has been too little
    Timestamp least_until{};              ///< how long `least_cores` is believed
    int fruitless = 0;                    ///< steps that did not help anybody
  };
  /// The last step, until it is known what it did.
  struct Trial {
    Step step;
    Timestamp until{};    ///< what is known then is all from after the step
    std::string starved;  ///< for whom it was made; empty: for nobody else
    double surplus_before = 0;
    std::vector<std::string> missed_before;
  };

  bool may_change(const std::string& path, const Decision& decision, Timestamp now) const;
  std::optional<Step> look_back(const Apps& apps, Timestamp now);
  std::optional<Step> look_back_for_help(const Apps& apps, App& app, Timestamp now);
  std::optional<Step> help(const std::string& path, const Decision& starved, const Apps& apps,
                           Timestamp now);
  std::optional<Step> raise_cores(const std::string& path, const Decision& starved) const;
  std::optional<Step> raise_memory(const std::string& path, const Decision& starved) const;
  std::optional<Step> take_from_somebody(const std::string& path, const Decision& starved,
                                         const Apps& apps, Timestamp now) const;
  std::optional<Step> give_back(const Apps& apps, Timestamp now) const;
  double lowered_cores(const std::string& path, const Decision& donor, Timestamp now) const;
  Step undo(const Step& step, std::string reason) const;

  ActSettings settings_;
  NodeSize node_;
  std::map<std::string, App> changed_;
  std::map<std::string, Timestamp> resting_;
  std::optional<Trial> trial_;
  std::string helped_;  ///< for whom the next step is made
  Timestamp last_starved_{};
};

}  // namespace assay::agent
