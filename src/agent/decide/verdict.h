// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decide/evidence.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::agent {

enum class Verdict : uint8_t {
  unknown,    ///< it has no goals, or nothing is known about them yet
  meets,      ///< reaches its goals
  starved,    ///< misses a goal and lacks a resource
  misses,     ///< misses a goal, and nothing that it lacks was found
  idle_rich,  ///< reaches its goals with far more than it needs
  stuck,      ///< reports nothing any more
  leaking,    ///< its memory only grows
};
constexpr size_t kVerdicts = static_cast<size_t>(Verdict::leaking) + 1;
/// "idle-rich"
std::string_view to_string(Verdict verdict);

enum class Resource : uint8_t { none, cpu, memory, disk };
std::string_view to_string(Resource resource);

struct Finding {
  Verdict verdict = Verdict::unknown;
  Resource resource = Resource::none;  ///< what it lacks
  bool own_limit = false;              ///< its own limit is what keeps it from having more

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// What could be taken from an app that reaches its goals. Nothing of what is not known.
struct Spare {
  double cores = 0;
  double memory_bytes = 0;
};

/// Judges what the evidence of this moment tells; pure. `now` is what is held to be true: what it
/// takes to leave it is more than what it takes to stay.
Finding judge(const Evidence& evidence, Verdict now);
Spare spare_of(const Evidence& evidence);
/// The smallest surplus over the goals that are about what it reports; nothing when one is unknown.
std::optional<double> surplus_of(const Evidence& evidence);

/// A finding counts when it has been made again and again for some seconds.
class Held {
 public:
  /// Returns whether what is held has changed.
  bool take(const Finding& finding, Timestamp now);
  const Finding& finding() const { return held_; }
  Timestamp since() const { return since_; }

 private:
  Finding held_;
  Timestamp since_{};
  Finding next_;
  Timestamp next_since_{};
};

}  // namespace assay::agent
