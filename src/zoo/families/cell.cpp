// SPDX-License-Identifier: Apache-2.0
#include "cell.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>
#include <utility>

#include <assay/base/text.h>
#include <assay/base/wording.h>

namespace assay::zoo {
namespace {

constexpr size_t kNodes = 4;
constexpr std::array<std::pair<std::string_view, CellOperation>, 5> kOperations{
    {{"none", CellOperation::none},
     {"skip_connect", CellOperation::skip},
     {"nor_conv_1x1", CellOperation::conv_1x1},
     {"nor_conv_3x3", CellOperation::conv_3x3},
     {"avg_pool_3x3", CellOperation::average_pool}}};

Failure not_a_cell(std::string_view what, std::string_view why) {
  return bad_input(fmt::format(
      "{} in the cell {}; a cell is |OP~0|+|OP~0|OP~1|+|OP~0|OP~1|OP~2| with none, skip_connect, "
      "nor_conv_1x1, nor_conv_3x3 or avg_pool_3x3",
      in_quotes(what), why));
}

Result<CellOperation> parse_edge(std::string_view text, size_t from) {
  std::string_view rest = text;
  const auto name = next_field(rest, '~');
  const auto* known = std::find_if(kOperations.begin(), kOperations.end(),
                                   [&](const auto& each) { return each.first == name; });
  if (known == kOperations.end()) return not_a_cell(text, "is not an operation");
  if (parse_uint(rest) != from) return not_a_cell(text, fmt::format("should end in ~{}", from));
  return known->second;
}

Result<std::vector<CellOperation>> parse_node(std::string_view text, size_t edges) {
  const auto bars = static_cast<size_t>(std::count(text.begin(), text.end(), '|'));
  if (bars != edges + 1 || !text.starts_with('|') || !text.ends_with('|')) {
    return not_a_cell(text, fmt::format("should have {} operations between bars", edges));
  }
  text.remove_prefix(1);
  std::vector<CellOperation> node;
  for (size_t from = 0; from < edges; ++from) {
    ASSAY_TRY(const auto operation, parse_edge(next_field(text, '|'), from));
    node.push_back(operation);
  }
  return node;
}

}  // namespace

Result<Cell> parse_cell(std::string_view text) {
  const auto nodes = static_cast<size_t>(std::count(text.begin(), text.end(), '+')) + 2;
  if (nodes != kNodes) return not_a_cell(text, "should have three nodes, joined by +");
  Cell cell;
  for (size_t edges = 1; edges < kNodes; ++edges) {
    ASSAY_TRY(auto node, parse_node(next_field(text, '+'), edges));
    cell.push_back(std::move(node));
  }
  return cell;
}

std::string cell_code(const Cell& cell) {
  std::string code;
  for (const auto& node : cell) {
    for (const auto operation : node) code += std::to_string(static_cast<int>(operation));
  }
  return code;
}

bool leads_through(const Cell& cell) {
  std::vector<bool> reached{true};
  for (const auto& edges : cell) {
    bool any = false;
    for (size_t from = 0; from < edges.size(); ++from) {
      any = any || (reached[from] && edges[from] != CellOperation::none);
    }
    reached.push_back(any);
  }
  return reached.back();
}

}  // namespace assay::zoo
