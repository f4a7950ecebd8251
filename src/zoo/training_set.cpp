// SPDX-License-Identifier: Apache-2.0
#include "count_work.h"
#include "draw.h"
#include "families/cell.h"
#include "family.h"
#include "onnx_file.h"

#include <algorithm>
#include <optional>

namespace assay::zoo {
namespace {

constexpr int64_t kLargest = 100'000'000;      // bytes of one file
constexpr int64_t kMostWork = 10'000'000'000;  // multiplications: seconds on a small board

template <class T, size_t Size>
T pick(Draw& draw, const std::array<T, Size>& from) {
  return from.at(draw.below(Size));
}

/// A cell with a random operation on each of its six edges.
std::string random_cell(Draw& draw) {
  constexpr std::array<std::string_view, 5> kOperations{"none", "skip_connect", "nor_conv_1x1",
                                                        "nor_conv_3x3", "avg_pool_3x3"};
  std::string cell;
  for (size_t edges = 1; edges < 4; ++edges) {
    cell += edges == 1 ? "|" : "+|";
    for (size_t from = 0; from < edges; ++from) {
      cell += std::string(pick(draw, kOperations)) + "~" + std::to_string(from) + "|";
    }
  }
  return cell;
}

void vary(Recipe& recipe, const Family& family, const Variant& variant, Draw& draw) {
  const auto takes = [&family](std::string_view option) {
    return std::find(family.options.begin(), family.options.end(), option) != family.options.end();
  };
  recipe.width = pick(draw, std::array{0.25, 0.35, 0.5, 0.65, 0.75, 0.85, 1.0, 1.25});
  recipe.depth = pick(draw, std::array{0.35, 0.5, 0.75, 1.0, 1.0, 1.25, 1.5});
  const bool sees = variant.resolution > 0;
  if (sees && takes("resolution") && !takes("cell")) {
    recipe.resolution = pick(draw, std::array<int64_t, 7>{96, 128, 160, 192, 224, 256, 288});
  }
  if (!sees && takes("sequence")) {
    recipe.sequence = pick(draw, std::array<int64_t, 5>{16, 32, 64, 128, 192});
  }
  if (takes("bidirectional")) recipe.bidirectional = draw.below(2) == 1;
  if (takes("cell")) recipe.cell = random_cell(draw);
}

bool is_small_enough(const Plan& plan) {
  const auto graph = build(plan);
  return graph && onnx_size(*graph, plan.name) <= kLargest && count_macs(*graph) <= kMostWork;
}

/// The next model of this family, drawn again until it can be built and is not too large.
Recipe draw_model(const Family& family, Draw& draw) {
  while (true) {
    Recipe recipe;
    recipe.family = family.name;
    const Variant& variant = family.variants[draw.below(family.variants.size())];
    recipe.variant = variant.name;
    vary(recipe, family, variant, draw);
    recipe.seed = draw.below(1000);
    const auto plan = plan_of(recipe);
    if (!plan) continue;
    if (const auto cell = parse_cell(recipe.cell); cell && !leads_through(*cell)) continue;
    if (is_small_enough(*plan)) return recipe;
  }
}

}  // namespace

std::vector<Recipe> training_set(size_t count, uint64_t seed) {
  Draw draw(seed);
  std::vector<const Family*> published;
  const Family* mixed = nullptr;
  for (const auto& family : all_families()) {
    if (family.name == "mixed")
      mixed = &family;
    else
      published.push_back(&family);
  }
  std::vector<Recipe> set;
  while (set.size() < count) {
    const size_t turn = set.size() / published.size();
    const Family& next = turn % 2 == 1 ? *mixed : *published[set.size() % published.size()];
    set.push_back(draw_model(next, draw));
  }
  return set;
}

}  // namespace assay::zoo
