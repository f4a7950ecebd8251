// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <assay/session/session.h>

namespace assay::cli {

/// One session as the list shows it.
struct ListedSession {
  store::Summary summary;
  SessionRecord record;
  int goals = 0;
  int goals_met = 0;

  /// Of all its runs that have ended.
  Nanoseconds duration() const;
};

/// Every session of the history, newest first. Goals are computed from the samples. One that cannot
/// be read has the status "damaged".
Result<std::vector<ListedSession>> listed_sessions(store::Store& store);

/// A table for a terminal of 80 columns, times in the local zone.
std::string history_table(const std::vector<ListedSession>& sessions, Timestamp now);
Json history_json(const std::vector<ListedSession>& sessions);

}  // namespace assay::cli
