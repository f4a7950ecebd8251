// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "act/undo_file.h"
#include "live_table.h"

#include <map>
#include <optional>
#include <string>

#include <assay/base/time.h>

namespace assay::agent {

/// Limits that are to be put back, of this life or an earlier one, until that is done.
class Owed {
 public:
  struct Due {
    std::string key;   ///< as it was owed
    std::string path;  ///< of the app that runs now
    LimitChange limits;
  };

  void add(const std::string& path, Original original, Timestamp due);
  /// What can be tried now. A container that its pod has started anew has another path than the one
  /// before. Pods whose cluster has not named them yet wait when `named` is set. Those that have
  /// not been there for an hour are forgotten: pods do not come back.
  std::optional<Due> due(const LiveTable& table, bool named, Timestamp now);
  /// It could not be put back: tried again later, after the others.
  void failed(const std::string& key, Timestamp now);
  void paid(const std::string& key) { debts_.erase(key); }
  Originals all() const;

 private:
  struct Debt {
    Original original;
    Timestamp next{};  ///< not before
    Timestamp seen{};  ///< when the app was there last
  };
  void forget_old(Timestamp now);

  std::map<std::string, Debt> debts_;
};

}  // namespace assay::agent
