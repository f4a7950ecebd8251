// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/cluster/trial_manifest.h>
#include <assay/cluster/trial_planner.h>
#include <assay/kubeapi/client.h>
#include <assay/kubeapi/discovery.h>
#include <assay/promapi/query.h>

namespace assay::cluster {

class TrialHistory;

/// How the throughput of a trial is found: a metric that the app reports itself, numbers in its
/// log, or else how busy its GPUs are. Numbers of several pods are added.
struct Measure {
  std::string metric = {};       ///< "samples_per_second", or the name of a counter
  std::string log_pattern = {};  ///< with one group
  bool log_counts = false;       ///< it is a count that grows, not a rate
};

/// Whether its metric can be one, and its pattern is an expression with one group.
Result<void> check_measure(const Measure& measure);

struct TrialSettings {
  CopySettings copy = {};
  Measure measure = {};
  Prices prices = {};
  Nanoseconds time{std::chrono::minutes(3)};      ///< that is measured
  Nanoseconds warm_up{std::chrono::seconds(30)};  ///< before
  Nanoseconds patience{std::chrono::minutes(2)};  ///< for room, images and a silent API server
  Nanoseconds step{std::chrono::seconds(1)};      ///< between looks at the pods
  size_t at_once = 1;                             ///< most trials at a time, as room allows
};

/// What a trial told. What could not be measured is absent.
struct TrialResult {
  Choice choice = {};
  TrialEnd end = TrialEnd::measured;
  std::string reason = {};   ///< why it was not measured, in one sentence
  std::string object = {};   ///< the name of the copy
  std::string session = {};  ///< in the history; empty: it is not kept there
  std::vector<std::string> pods = {};
  std::vector<std::string> nodes = {};
  Timestamp begin = {};  ///< of what was measured
  Timestamp end_time = {};
  Estimate throughput = {};  ///< its sd is relative; 0: not known
  std::string source = {};   ///< of the throughput: "assay_app_fps", "log", "DCGM_FI_DEV_GPU_UTIL"
  std::optional<double> utilization = {};   ///< 0 to 1, of what it was given
  std::optional<double> memory_bytes = {};  ///< most, of all pods together
  std::optional<double> watts = {};         ///< mean, of its GPUs
  std::optional<double> unit_joules = {};   ///< of one unit of work
  std::optional<double> unit_cost = {};
};
Tried tried_of(const TrialResult& result, size_t choice);

/// What a runner needs of the outside; tests have others.
struct TrialWorld {
  const Clock& clock;
  std::function<bool()> wanted = [] { return true; };  ///< false: end soon
  std::function<void(Nanoseconds)> pause = {};         ///< waits, or less when nothing is wanted
  std::function<void(const std::string&)> doing = [](const std::string&) {};
};

/// Runs trials in a cluster, one or several at once, and always removes what it made: also after a
/// failure and when nothing is wanted any more. One thread at a time; client, queries, history and
/// world have to live longer.
class TrialRunner {
 public:
  /// `queries` may be null: then only logs are read. So may `history`: then no runs are kept.
  TrialRunner(kubeapi::Client& client, promapi::Queries* queries, TrialWorld world,
              TrialSettings settings, TrialHistory* history = nullptr);
  TrialRunner(const TrialRunner&) = delete;
  TrialRunner& operator=(const TrialRunner&) = delete;
  ~TrialRunner();

  /// Finds the resource of the source's kind, and the original object where the cluster has it. An
  /// error: the kind is not installed.
  Result<void> prepare(const TrialSource& source);
  /// Nothing, when it may fit; else why no node can ever run it. Also when nodes cannot be asked.
  std::optional<std::string> lacks_room(const Choice& choice);
  /// Whether it can begin now: nothing else runs, or it is allowed beside what does and finds room.
  bool may_begin(const Choice& choice);
  /// Whether as many run as may.
  bool is_full() const { return copies_.size() >= settings_.at_once; }
  /// From now on it goes on with each step().
  void begin(const Choice& choice);
  /// Looks once at each trial; gives those that have ended and are removed. An error: nothing can
  /// be tried, as for lack of rights, a copy could not be removed, or nothing is wanted any more.
  /// It ends all trials, and comes when the last is removed.
  Result<std::vector<TrialResult>> step();
  /// Whether step() has something to do.
  bool busy() const { return !copies_.empty() || error_; }
  /// Between two steps.
  void pause() const { world_.pause(settings_.step); }
  /// begin(), and step() until it has ended.
  Result<TrialResult> run(const Choice& choice);
  /// The object that was tried, with its uid; without one when it is not in the cluster.
  const kubeapi::ObjectName& original() const { return settings_.copy.original; }

 private:
  struct Copy;
  void advance(Copy& copy);
  Result<void> create(Copy& copy);
  bool is_ours(const TrialCopy& copy);
  Result<void> start(Copy& copy);
  Result<void> stay(Copy& copy);
  Result<void> look(Copy& copy);
  bool has_lost_node(Copy& copy, Nanoseconds patience);
  bool lose_if_gone(Copy& copy);
  void lose_node(Copy& copy);
  void tell_end(Copy& copy);
  Result<void> conclude(Copy& copy);
  void remove(Copy& copy);
  void finish(Copy& copy);
  void give_up(Copy& copy, const Error& error);
  bool is_over(const Copy& copy) const;
  TrialEnd without_room(const Copy& copy, const std::string& why);
  std::string shown(const Choice& choice) const;

  kubeapi::Client& client_;
  promapi::Queries* queries_;
  TrialHistory* history_;
  TrialWorld world_;
  TrialSettings settings_;
  TrialSource source_ = {};
  kubeapi::Resource resource_ = {};
  std::optional<std::vector<kubeapi::Node>> nodes_ = {};
  std::vector<std::unique_ptr<Copy>> copies_;
  std::optional<Error> error_ = {};
  Timestamp next_room_ = {};  ///< before which room is not asked for again
  bool room_noted_ = false;
  uint64_t number_;
};

/// A copy whose call runs still, or may.
struct UsedCopy {
  std::string name = {};
  std::optional<Timestamp> since = {};
  bool elsewhere = false;               ///< on another machine, or in another container of this one
  std::optional<Timestamp> until = {};  ///< of those elsewhere: then it counts as left over
};
/// Why another call for these trials does not begin, and what to do.
std::string used_text(const UsedCopy& used, const CopySettings& copy);
/// What of the leftovers of trials went, and what could not be removed, a sentence each.
struct CleanedTrials {
  std::vector<std::string> removed = {};  ///< names
  std::vector<std::string> left = {};
  std::vector<UsedCopy> used = {};
};
enum class Cleaning : uint8_t { unused, all };
/// Removes everything that trials of this name left in a namespace; of any name when it is empty. A
/// kind that cannot be listed, or an object that cannot be removed, does not keep it from the rest.
/// An error: the API server does not answer, lets us look at nothing, or has no such namespace.
/// Unless all are to go, copies stay whose call lives on this machine, and until their deadline
/// those of calls that cannot be seen from here.
Result<CleanedTrials> clean_trials(kubeapi::Client& client, const Clock& clock,
                                   const std::string& name_space, const std::string& trial,
                                   Cleaning cleaning, net::Stopper& stopper);

}  // namespace assay::cluster
