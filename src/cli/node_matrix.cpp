// SPDX-License-Identifier: Apache-2.0
#include "node_matrix.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>

namespace assay::cli {
namespace {

using Cells = std::vector<std::string>;
using Named = std::vector<std::pair<std::string, analysis::Distribution>>;

/// More would not fit on a line.
constexpr size_t kMostMetrics = 4;

const analysis::Distribution* value_of(const Named& all, std::string_view name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == name; });
  return found == all.end() ? nullptr : &found->second;
}

/// Of all rows, each once, in the order of their first appearance.
Cells metric_names(const std::vector<MatrixRow>& rows) {
  Cells names;
  for (const auto& row : rows) {
    if (!row.view) continue;
    for (const auto& run : row.view->runs) {
      for (const auto& [name, values] : run.analysis.metrics) {
        const bool known = std::find(names.begin(), names.end(), name) != names.end();
        if (!known && names.size() < kMostMetrics) names.push_back(name);
      }
    }
  }
  return names;
}

std::string goals_text(const std::vector<analysis::GoalResult>& goals) {
  if (goals.empty()) return "-";
  const auto met = std::count_if(goals.begin(), goals.end(), [](const auto& g) { return g.met; });
  return fmt::format("{} of {} met", met, goals.size());
}

std::string value_text(const analysis::Distribution* value, bool bytes, bool peak) {
  if (value == nullptr) return "-";
  const double number = peak ? value->peak : value->mean;
  if (bytes) return format_bytes(number);
  if (value->unit == "seconds") return format_duration(from_seconds(number));
  return format_number(number);
}

Cells cells_of(const MatrixRow& row, size_t i, const Cells& metrics) {
  const RunRecord& run = row.view->session.runs[i];
  const analysis::RunAnalysis& found = row.view->runs[i].analysis;
  Cells cells = {row.kind,
                 row.node,
                 std::string(to_string(run.status)),
                 format_duration(run.duration()),
                 value_text(value_of(found.footprint, "cpu_cores"), false, false),
                 value_text(value_of(found.footprint, "memory_bytes"), true, true)};
  for (const auto& name : metrics)
    cells.push_back(value_text(value_of(found.metrics, name), false, false));
  cells.push_back(goals_text(found.goals));
  return cells;
}

std::string lines_of(const std::vector<Cells>& table) {
  std::vector<size_t> widths;
  for (const auto& cells : table) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string text;
  for (const auto& cells : table) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) line += fmt::format("{:<{}}  ", cells[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::string matrix_text(const std::string& label, const std::vector<MatrixRow>& rows) {
  const Cells metrics = metric_names(rows);
  Cells head = {label, "node", "status", "duration", "cores", "memory"};
  head.insert(head.end(), metrics.begin(), metrics.end());
  head.emplace_back("goals");
  std::vector<Cells> table = {std::move(head)};
  for (const auto& row : rows) {
    if (!row.view) continue;
    for (size_t i = 0; i < row.view->runs.size(); ++i) table.push_back(cells_of(row, i, metrics));
  }
  return (table.size() > 1 ? lines_of(table) : "") + matrix_errors(rows);
}

std::string matrix_errors(const std::vector<MatrixRow>& rows) {
  std::string errors;
  for (const auto& row : rows)
    if (!row.error.empty()) errors += fmt::format("{}: {}\n", row.kind, row.error);
  return errors;
}

Json matrix_document(const std::string& label, const std::vector<MatrixRow>& rows) {
  Json kinds = Json::array();
  for (const auto& row : rows) {
    Json kind = {{"kind", row.kind}};
    if (!row.node.empty()) kind["node"] = row.node;
    if (row.view) kind["session"] = report::session_document(*row.view);
    if (!row.error.empty()) kind["error"] = row.error;
    kinds.push_back(std::move(kind));
  }
  return {{"schema", 1}, {"label", label}, {"kinds", std::move(kinds)}};
}

}  // namespace assay::cli
