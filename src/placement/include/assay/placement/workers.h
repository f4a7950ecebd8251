// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/time.h>

namespace assay::placement {

/// A worker that was started before and not ended.
struct Worker {
  enum class State { starting, running, ended };
  std::string name;
  std::string model;
  std::string node;
  State state = State::starting;
  std::optional<Timestamp> since = {};
};

/// Workers wherever we may look, and where that was not possible.
struct Workers {
  struct NotAsked {
    std::string node;  ///< or the cluster
    std::string reason;
  };
  std::vector<Worker> list;
  std::vector<NotAsked> not_asked;

  /// Adds those that are not there yet: two names may lead to one daemon.
  void add(const std::vector<Worker>& more);
};

/// The oldest first.
nlohmann::json workers_document(const Workers& workers);
std::string workers_text(const Workers& workers);

}  // namespace assay::placement
