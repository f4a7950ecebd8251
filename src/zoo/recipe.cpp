// SPDX-License-Identifier: Apache-2.0
#include "families/cell.h"
#include "family.h"
#include "onnx_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <assay/base/wording.h>

namespace assay::zoo {
namespace {

template <class List>
auto find_named(const List& list, std::string_view name) {
  return std::find_if(list.begin(), list.end(),
                      [&](const auto& each) { return each.name == name; });
}

template <class List>
std::vector<std::string_view> names_of(const List& list) {
  std::vector<std::string_view> names;
  for (const auto& each : list) names.push_back(each.name);
  return names;
}

/// "resnet50" and "bert-base" say family and variant in one word.
std::optional<std::pair<std::string_view, std::string_view>> split_name(std::string_view word) {
  for (const auto& family : all_families()) {
    if (!word.starts_with(family.name)) continue;
    std::string_view rest = word.substr(family.name.size());
    if (rest.starts_with('-')) rest.remove_prefix(1);
    const auto variant = find_named(family.variants, rest);
    if (variant != family.variants.end()) return {{family.name, variant->name}};
  }
  if (word == "googlenet") return {{"inception", "googlenet"}};
  return std::nullopt;
}

Result<Recipe> with_whole_name(Recipe recipe) {
  if (find_named(all_families(), recipe.family) != all_families().end()) return recipe;
  if (const auto parts = split_name(recipe.family); parts && recipe.variant.empty()) {
    recipe.family = parts->first;
    recipe.variant = parts->second;
    return recipe;
  }
  if (recipe.family.empty())
    return bad_input("say which family; `assay model make --list` has them");
  return bad_input(fmt::format("there is no family {}{}", in_quotes(recipe.family),
                               suggestion(recipe.family, names_of(all_families()))));
}

Result<void> check_range(std::string_view option, double value, double least, double most) {
  if (value >= least && value <= most) return {};
  return bad_input(
      fmt::format("--{} {} is out of range: it can be {} to {}", option, value, least, most));
}

Result<void> check_size(std::string_view option, const std::optional<int64_t>& value,
                        int64_t most) {
  if (!value) return {};
  return check_range(option, static_cast<double>(*value), 1, static_cast<double>(most));
}

Result<void> check_ranges(const Recipe& recipe) {
  ASSAY_CHECK(check_range("width", recipe.width, 0.05, 16));
  ASSAY_CHECK(check_range("depth", recipe.depth, 0.05, 16));
  ASSAY_CHECK(check_size("batch", recipe.batch, 4096));
  ASSAY_CHECK(check_size("resolution", recipe.resolution, 8192));
  ASSAY_CHECK(check_size("classes", recipe.classes, 1'000'000));
  ASSAY_CHECK(check_size("layers", recipe.layers, 1000));
  ASSAY_CHECK(check_size("hidden", recipe.hidden, 65536));
  ASSAY_CHECK(check_size("heads", recipe.heads, 1024));
  return check_size("sequence", recipe.sequence, 65536);
}

/// An option that the family does not know would be forgotten silently.
Result<void> check_options(const Recipe& recipe, const Family& family) {
  const std::array<std::pair<std::string_view, bool>, 7> given{
      {{"resolution", recipe.resolution.has_value()},
       {"layers", recipe.layers.has_value()},
       {"hidden", recipe.hidden.has_value()},
       {"heads", recipe.heads.has_value()},
       {"sequence", recipe.sequence.has_value()},
       {"bidirectional", recipe.bidirectional},
       {"cell", !recipe.cell.empty()}}};
  for (const auto& [option, is_given] : given) {
    const auto& known = family.options;
    if (!is_given || std::find(known.begin(), known.end(), option) != known.end()) continue;
    return bad_input(
        fmt::format("{} has no --{}; it takes --width, --depth, --batch, --classes, --seed, --{}",
                    family.name, option, fmt::join(known, ", --")));
  }
  return {};
}

/// What differs from the published variant, for the name.
std::string differences(const Recipe& recipe) {
  std::string text;
  const auto add = [&text](std::string_view letter, const auto& value) {
    text += fmt::format("_{}{}", letter, value);
  };
  if (recipe.width != 1) add("w", recipe.width);
  if (recipe.depth != 1) add("d", recipe.depth);
  if (recipe.resolution) add("r", *recipe.resolution);
  if (recipe.layers) add("layers", *recipe.layers);
  if (recipe.hidden) add("hidden", *recipe.hidden);
  if (recipe.heads) add("heads", *recipe.heads);
  if (recipe.sequence) add("seq", *recipe.sequence);
  if (recipe.bidirectional) add("bi", "");
  if (const auto cell = parse_cell(recipe.cell)) add("cell", cell_code(*cell));
  if (recipe.classes) add("c", *recipe.classes);
  if (recipe.batch != 1) add("b", recipe.batch);
  if (recipe.seed != 0) add("s", recipe.seed);
  return text;
}

std::string published_name(const Family& family, const Variant& variant) {
  if (family.variants.size() == 1) return std::string(family.name);
  if (variant.name == "googlenet") return "googlenet";
  const bool digits = variant.name.front() >= '0' && variant.name.front() <= '9';
  return fmt::format("{}{}{}", family.name, digits ? "" : "-", variant.name);
}

}  // namespace

Result<Plan> plan_of(const Recipe& asked) {
  ASSAY_TRY(auto recipe, with_whole_name(asked));
  const Family& family = *find_named(all_families(), recipe.family);
  if (recipe.variant.empty()) recipe.variant = family.variants.front().name;
  const auto variant = find_named(family.variants, recipe.variant);
  if (variant == family.variants.end()) {
    return bad_input(fmt::format("{} has no variant {}; it has {}", family.name,
                                 in_quotes(recipe.variant),
                                 fmt::join(names_of(family.variants), ", ")));
  }
  ASSAY_CHECK(check_ranges(recipe));
  ASSAY_CHECK(check_options(recipe, family));
  Plan plan;
  plan.variant = recipe.variant;
  plan.resolution = recipe.resolution.value_or(variant->resolution);
  plan.classes = recipe.classes.value_or(variant->classes);
  plan.name = published_name(family, *variant) + differences(recipe);
  plan.recipe = std::move(recipe);
  return plan;
}

Result<Graph> build(const Plan& plan) {
  Graph graph;
  Net net(graph);
  find_named(all_families(), plan.recipe.family)->build(net, plan);
  if (graph.trouble()) return bad_input(fmt::format("{}: {}", plan.name, *graph.trouble()));
  return graph;
}

std::vector<FamilyInfo> families() {
  std::vector<FamilyInfo> infos;
  for (const auto& family : all_families()) {
    FamilyInfo info{std::string(family.name), std::string(family.about), {}, {}};
    for (const auto& variant : family.variants) info.variants.emplace_back(variant.name);
    for (const auto& option : family.options) info.options.emplace_back(option);
    infos.push_back(std::move(info));
  }
  return infos;
}

Result<std::string> model_name(const Recipe& recipe) {
  ASSAY_TRY(const auto plan, plan_of(recipe));
  return plan.name;
}

Result<Made> make_model(const Recipe& recipe, const std::filesystem::path& file) {
  ASSAY_TRY(const auto plan, plan_of(recipe));
  ASSAY_TRY(const auto graph, build(plan));
  Made made{file, plan.name, {}, graph.parameters(), 0};
  for (const auto& input : graph.inputs()) {
    made.inputs.push_back(fmt::format("{} {}", input.tensor.name, shape_text(input.tensor.shape)));
  }
  ASSAY_TRY(made.bytes, write_onnx(graph, plan.name, recipe.seed, file));
  return made;
}

}  // namespace assay::zoo
