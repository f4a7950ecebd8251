// SPDX-License-Identifier: Apache-2.0
#include "app_search.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include <assay/base/wording.h>

namespace assay::agent {
namespace {

constexpr size_t kShortestId = 12;
constexpr size_t kMostNamed = 5;

bool is_meant(const std::string& app, const AppIdentity& identity) {
  const std::string& id = identity.group.id;
  return app == identity.name || (identity.group.kind == GroupKind::container &&
                                  app.size() >= kShortestId && id.starts_with(app));
}

/// Paths of those that run and may be meant.
std::set<std::string> paths_of(const std::string& app, const LiveTable& table,
                               const Reports& reports) {
  std::set<std::string> paths;
  for (const auto& [path, live] : table.apps()) {
    if (live->ended()) continue;
    if (path == app) return {path};
    if (is_meant(app, live->identity())) paths.insert(path);
  }
  for (const auto& [path, reported] : reports.apps()) {
    if (reported.callers > 0 && path == app) return {path};
  }
  return paths;
}

}  // namespace

AppFound find_app(const std::string& app, const LiveTable& table, const Reports& reports) {
  const auto paths = paths_of(app, table, reports);
  if (paths.size() == 1) return {200, "", *paths.begin()};
  if (paths.empty())
    return {404, fmt::format("no app {} runs here; see /api/v1/apps", in_quotes(app))};
  std::vector<std::string> first(
      paths.begin(),
      std::next(paths.begin(), static_cast<std::ptrdiff_t>(std::min(paths.size(), kMostNamed))));
  if (paths.size() > kMostNamed) first.emplace_back("...");
  return {409, fmt::format("{} apps are called {}; give the path of one: {}", paths.size(),
                           in_quotes(app), fmt::join(first, ", "))};
}

}  // namespace assay::agent
