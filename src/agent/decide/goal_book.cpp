// SPDX-License-Identifier: Apache-2.0
#include "decide/goal_book.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/samples/goal.h>

namespace assay::agent {

using nlohmann::json;

Result<std::vector<Goal>> parse_goals(std::string_view text) {
  std::vector<Goal> goals;
  while (!text.empty()) {
    const size_t end = text.find_first_of(",;\n");
    const std::string_view one = trim(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (one.empty()) continue;
    if (goals.size() == kMostGoals)
      return bad_input(fmt::format("there are more than {} goals; leave some out", kMostGoals));
    ASSAY_TRY(Goal goal, parse_goal(std::string(one)));
    const auto same = [&](const Goal& other) { return other.text == goal.text; };
    if (std::none_of(goals.begin(), goals.end(), same)) goals.push_back(std::move(goal));
  }
  return goals;
}

void GoalBook::label(const std::string& path, std::vector<Goal> goals) {
  if (goals.empty())
    labelled_.erase(path);
  else
    labelled_[path] = std::move(goals);
}

void GoalBook::set(const std::string& path, std::vector<Goal> goals) {
  if (goals.empty())
    set_.erase(path);
  else
    set_[path] = std::move(goals);
}

const std::vector<Goal>& GoalBook::of(const std::string& path) const {
  static const std::vector<Goal> kNone;
  if (const auto found = set_.find(path); found != set_.end()) return found->second;
  const auto found = labelled_.find(path);
  return found == labelled_.end() ? kNone : found->second;
}

void GoalBook::forget(const std::string& path) {
  labelled_.erase(path);
  set_.erase(path);
}

std::string GoalBook::written() const {
  if (set_.empty()) return "";
  json document = json::object();
  for (const auto& [path, goals] : set_)
    for (const auto& goal : goals) document[path].push_back(goal.text);
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::vector<std::string> GoalBook::read(std::string_view text) {
  std::vector<std::string> paths;
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object()) return paths;
  for (const auto& [path, goals] : document.items()) {
    std::vector<Goal> known;
    for (const auto& goal : goals) {
      if (!goal.is_string()) continue;
      auto parsed = parse_goal(goal.get<std::string>());
      if (parsed && known.size() < kMostGoals) known.push_back(std::move(*parsed));
    }
    if (known.empty()) continue;
    set(path, std::move(known));
    paths.push_back(path);
  }
  return paths;
}

}  // namespace assay::agent
