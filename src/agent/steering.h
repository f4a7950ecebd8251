// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "act/owed.h"
#include "act/pod_limits.h"
#include "act/steward.h"
#include "act/undo_file.h"
#include "control.h"
#include "decide/decisions.h"
#include "decide/measurements.h"
#include "decide/spec_goals.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <deque>
#include <set>
#include <utility>  // before Asio, which forgets it

#include <assay/samples/records.h>

namespace assay::agent {

/// Decides at each beat how apps do, tells about it and, when the operator lets it, changes their
/// limits. It is also what callers with a token change things through.
class Steering final : public Control {
 public:
  struct Parts {
    SysRoot root;
    const Clock& clock;
    boost::asio::io_context& loop;
    const Settings& settings;  ///< may change between two beats
    const Device& device;
    LiveTable& table;
    const Reports& reports;
    Tell tell;
  };
  explicit Steering(Parts parts);

  /// Pods have their limits changed by these from now on.
  void use(PodLimits& pods) { pods_ = &pods; }
  /// Reads the specs, and what an earlier daemon that was killed had changed, to be put back.
  void start();
  /// Reads the specs again.
  void read_goals();
  void beat();
  /// The labels of an app are known by now.
  void identified(const LiveApp& app);
  /// Takes back all changes of limits, at the end.
  boost::asio::awaitable<void> put_back();

  const Decisions& decisions() const { return decisions_; }
  /// What the API tells at /api/v1/advice.
  std::string advice() const;
  /// How many steps were made, by kind.
  const std::array<uint64_t, 4>& steps() const { return steps_; }

  Result<void> set_goals(const std::string& path, std::vector<Goal> goals) override;
  Result<void> set_limits(const std::string& path, const LimitChange& change) override;
  Result<void> set_interval(const std::string& path, Milliseconds interval,
                            Nanoseconds length) override;
  Result<void> capture(const std::string& path, const CaptureRequest& request) override;

 private:
  struct Often {
    Milliseconds interval;
    Timestamp until;
  };
  struct Action {
    Timestamp time;
    Step step;
    std::string error;  ///< empty: it was made
  };

  const std::vector<Goal>* spec_goals(const AppIdentity& app) const;
  void changed(const std::string& path, const Decision& decision);
  void publish(const std::string& path, const Decision& decision);
  void publish_all(Timestamp now);
  void recall_goals();
  void keep_goals();
  void forget_gone();
  void leave(const std::string& path);
  Original original_of(const std::string& path, std::optional<double> cores) const;
  enum class Way : uint8_t { change, restore };
  boost::asio::awaitable<Result<void>> apply(std::string path, LimitChange change, Way way);
  boost::asio::awaitable<void> make(Step step);
  boost::asio::awaitable<void> set_by_caller(Step step);
  boost::asio::awaitable<void> restore(Owed::Due due);
  boost::asio::awaitable<void> take_back_all();
  boost::asio::awaitable<void> until_not_busy();
  boost::asio::awaitable<void> read_often(std::string path);
  void remember();
  void note(Step step, const Result<void>& result);
  NodeSize node() const;

  Parts parts_;
  PodLimits* pods_ = nullptr;
  GoalBook goals_;
  std::vector<SpecGoals> specs_;
  Decisions decisions_;
  Steward steward_;
  UndoFile undo_;
  Owed owed_;
  bool stops_ = false;
  bool busy_ = false;              ///< a step is being made
  std::optional<Step> under_way_;  ///< which one, where it changes cores
  std::array<uint64_t, 4> steps_{};
  std::deque<Action> actions_;                    ///< the last ones, newest last
  std::map<std::string, Often> read_often_;       ///< by path
  std::set<std::string> known_;                   ///< apps whose goals are kept
  std::map<std::string, std::string> not_taken_;  ///< labels that are no goals, by path
  std::set<std::string> recalled_;                ///< apps that are not back yet
  Timestamp recalled_until_{};                    ///< how long they are waited for
  std::string kept_goals_;                        ///< as they are on disk
  Timestamp last_published_{};
  bool publishing_fails_ = false;
};

}  // namespace assay::agent
