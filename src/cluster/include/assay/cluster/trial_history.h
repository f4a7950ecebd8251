// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <assay/base/time.h>
#include <assay/cluster/trial_choices.h>
#include <assay/kubeapi/objects.h>
#include <assay/launch/agents.h>
#include <assay/samples/records.h>
#include <assay/store/store.h>

namespace assay::cluster {

struct TrialCopy;
struct TrialResult;
struct TrialSettings;

/// Keeps trials as sessions like any other: one for each, with a run for each container of its
/// pods, measured by the agents of their nodes. What cannot be kept is said once, and trials go on
/// without. One thread at a time; agents are asked by several, so that one that hangs
/// holds up nobody for longer than a look takes. Store, agents and clock have to live longer.
class TrialHistory {
 public:
  struct Place {
    std::filesystem::path sessions_folder = {};
    App app = {};
    std::function<void(const std::string&)> note = [](const std::string&) {};
    /// Whoever ends the trials ends the waiting for agents: that is no fault of theirs. Asked by
    /// several threads.
    std::function<bool()> wanted = [] { return true; };
  };
  TrialHistory(store::Store& store, launch::Agents& agents, const Clock& clock, Place place);
  TrialHistory(const TrialHistory&) = delete;
  TrialHistory& operator=(const TrialHistory&) = delete;
  ~TrialHistory();

  /// Its copy is created next.
  void begin(const TrialResult& trial, const TrialSettings& settings, const TrialCopy& copy);
  /// Its pods are these at present: asks their agents once, all nodes at the same time.
  void look(const TrialResult& trial, const std::vector<kubeapi::Pod>& pods);
  /// Fills in what its pods did between its begin and its end where that is not known yet: the
  /// throughput by what they reported, and what processors and memory they used where CPUs are
  /// tried.
  void measure(const TrialSettings& settings, TrialResult& trial) const;
  /// Why an agent of its pods cannot tell of it; empty: all of them can.
  std::string unheard(const TrialResult& trial) const;
  /// Before its copy is removed. Gives the session's id; empty: nothing was kept.
  std::string end(const TrialResult& trial, bool interrupted);

 private:
  struct Run;
  struct Kept;
  void add(Kept& kept, const kubeapi::Pod& pod, const kubeapi::PodContainer& container);
  Result<void> begin_session(Kept& kept, const std::string& node);
  Result<void> begin_run(Kept& kept, Run& run);
  void watch(Kept& kept, const std::string& container, Run& run);
  void ask(const std::vector<Run*>& of_node) const;
  void ask_all(Kept& kept, bool last);
  static std::vector<NotMeasured> gaps_of(const Run& run);
  Result<void> end_run(Kept& kept, Run& run, const TrialResult& trial, bool interrupted);
  void give_up(Kept& kept, const std::string& why);

  store::Store& store_;
  launch::Agents& agents_;
  const Clock& clock_;
  const Place place_;
  std::map<std::string, std::unique_ptr<Kept>> trials_;  ///< by their objects
  bool noted_ = false;
  std::set<std::string> silent_;  ///< nodes whose agents were told of
};

}  // namespace assay::cluster
