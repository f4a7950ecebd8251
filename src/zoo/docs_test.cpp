// SPDX-License-Identifier: Apache-2.0
#include "count_work.h"
#include "family.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <assay/base/files.h>
#include <gtest/gtest.h>

namespace assay::zoo {
namespace {

/// "25.6 M", "4.09 G": three digits.
std::string short_number(double value) {
  if (value >= 1e9) return fmt::format("{:.3g} G", value / 1e9);
  return fmt::format("{:.3g} M", value / 1e6);
}

std::string row(const FamilyInfo& family, const std::string& variant) {
  Recipe recipe;
  recipe.family = family.name;
  recipe.variant = variant;
  const auto plan = plan_of(recipe).value();
  const auto graph = build(plan).value();
  const bool transformer = family.name == "bert" || family.name == "vit" || variant == "tokens";
  return fmt::format(
      "| {} | `--{}` | {} | {} | {} | {} | yes |", plan.name, fmt::join(family.options, " --"),
      shape_text(graph.inputs().front().tensor.shape),
      short_number(static_cast<double>(graph.parameters())),
      short_number(static_cast<double>(count_macs(graph))), transformer ? "no" : "yes");
}

TEST(Docs, have_a_row_with_the_right_figures_for_every_variant) {
  const auto docs = read_file(ASSAY_SOURCE_DIR "/docs/zoo.md");
  ASSERT_TRUE(docs) << docs.error().message;
  for (const auto& family : families()) {
    for (const auto& variant : family.variants) {
      const auto wanted = row(family, variant);
      EXPECT_NE(docs->find(wanted), std::string::npos) << wanted;
    }
  }
}

}  // namespace
}  // namespace assay::zoo
