// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "render.h"
#include "tracker.h"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <assay/kubeapi/annotations.h>
#include <assay/kubeapi/rate_limiter.h>

namespace assay::cluster {

/// What came of writing, since the beginning.
struct Writes {
  std::array<uint64_t, 6> by_outcome{};  ///< as kubeapi::Outcome counts
  uint64_t unanswered = 0;
  std::string why = {};        ///< of the last one that could not be written
  size_t waiting = 0;          ///< objects that have changed and are not written yet
  double stalest_seconds = 0;  ///< for how long the longest of them has been waiting
};

/// Writes annotations of what has changed materially: each object once a round at most, those that
/// changed most first, after all others those that failed, and no faster than the rate. One thread
/// at a time; what it is given has to live longer.
class Publisher {
 public:
  using Tell = std::function<void(const std::string& sentence)>;
  Publisher(kubeapi::Client& client, kubeapi::AnnotationOptions options, RenderRules rules,
            kubeapi::RateLimiter& limiter, const Clock& clock, Tell tell);

  /// Finds what has changed, for this round. With `read_back` only of what goes on where the
  /// history has it: the most so far must not fall.
  void plan(Tracker& tracker, bool read_back = false);
  /// Writes for as long as `more` says, or until all is written. An object that cannot be written
  /// now waits for the next round. An error: several in a row had no answer; so do all that are
  /// left.
  Result<void> write(Tracker& tracker, const std::function<bool()>& more, net::Stopper& stopper);
  const Writes& writes() const { return writes_; }

 private:
  enum class What : uint8_t { node, pod, job };
  struct Due {
    bool failed;
    double score;
    What what;
    std::string key;
  };
  /// Of what was forbidden some time ago, a few, first those that were asked for longest ago; all
  /// once a right has come.
  template <class Table>
  void try_again(Table& table, Timestamp now) const;
  template <class T>
  void consider(T& state, What what, const std::string& key, Timestamp now);
  template <class T>
  Result<bool> write_one(T& state, net::Stopper& stopper);
  Result<bool> write_one(Tracker& tracker, const Due& due, net::Stopper& stopper);
  void tell_once(const std::string& sentence);
  void measure_waiting(Timestamp now);

  kubeapi::AnnotationWriter writer_;
  const RenderRules rules_;
  kubeapi::RateLimiter& limiter_;
  const Clock& clock_;
  const Tell tell_;
  std::vector<Due> due_;  ///< the first to be written last
  std::vector<Timestamp> since_;
  bool right_came_ = false;  ///< what was forbidden was written
  std::vector<std::string> told_;
  Writes writes_;
};

}  // namespace assay::cluster
