// SPDX-License-Identifier: Apache-2.0
#include "words.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/model/split.h>

namespace assay::model {
namespace {

/// The share of the work that stands before the cut, in percent.
double share(const CutPoint& cut) {
  const double all = cut.before.flops + cut.behind.flops;
  return all > 0 ? 100 * cut.before.flops / all : 0;
}

nlohmann::json side(const Cost& cost) {
  return {{"macs", static_cast<uint64_t>(std::min(cost.macs, 9e18))},
          {"flops", static_cast<uint64_t>(std::min(cost.flops, 9e18))},
          {"parameters", static_cast<uint64_t>(std::min(cost.parameters, 9e18))}};
}

}  // namespace

std::string cuts_text(const std::vector<CutPoint>& cuts, bool color, size_t columns) {
  if (cuts.empty()) return "no single tensor crosses this model; it cannot be cut in two\n";
  const auto smallest = std::min_element(
      cuts.begin(), cuts.end(), [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  const size_t width = std::clamp<size_t>(columns < 76 ? 16 : columns - 60, 16, 60);
  std::string text =
      fmt::format("{}{} places to cut; the fewest bytes cross at {}: {}{}\n\n",
                  color ? "\033[1m" : "", cuts.size(), shortened(smallest->tensor, 60),
                  format_bytes(smallest->bytes), color ? "\033[0m" : "");
  text += fmt::format("{:<{}}  {:<16} {:>10} {:>12} {:>13}\n", "tensor", width, "shape", "crosses",
                      "MACs before", "work before");
  for (const auto& cut : cuts) {
    text += fmt::format("{:<{}}  {:<16} {:>10} {:>12} {:>12.1f}%\n", shortened(cut.tensor, width),
                        width, shortened(shape_text(cut.known), 16), format_bytes(cut.bytes),
                        brief(cut.before.macs), share(cut));
  }
  return text;
}

nlohmann::json cuts_document(const std::vector<CutPoint>& cuts) {
  auto list = nlohmann::json::array();
  for (const auto& cut : cuts) {
    list.push_back({{"tensor", cut.tensor},
                    {"bytes", static_cast<uint64_t>(std::min(cut.bytes, 9e18))},
                    {"before", side(cut.before)},
                    {"behind", side(cut.behind)}});
  }
  return {{"cuts", list}};
}

}  // namespace assay::model
