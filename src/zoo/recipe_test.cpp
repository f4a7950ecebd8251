// SPDX-License-Identifier: Apache-2.0
#include "count_work.h"
#include "family.h"
#include "onnx_file.h"
#include "testing/temporary_folder.h"

#include <algorithm>
#include <set>
#include <sys/stat.h>

#include <assay/base/files.h>
#include <gtest/gtest.h>

namespace assay::zoo {
namespace {

Recipe recipe_of(const std::string& family) {
  Recipe recipe;
  recipe.family = family;
  return recipe;
}

std::string error_of(const Recipe& recipe) {
  const auto plan = plan_of(recipe);
  if (!plan) return plan.error().message;
  const auto graph = build(*plan);
  return graph ? "no error" : graph.error().message;
}

TEST(Recipe, one_word_can_name_family_and_variant) {
  EXPECT_EQ(model_name(recipe_of("resnet50")).value(), "resnet50");
  EXPECT_EQ(model_name(recipe_of("mobilenetv3-large")).value(), "mobilenet-v3-large");
  EXPECT_EQ(model_name(recipe_of("bert-tiny")).value(), "bert-tiny");
  EXPECT_EQ(model_name(recipe_of("googlenet")).value(), "googlenet");
}

TEST(Recipe, the_name_tells_what_differs_from_the_published_one) {
  Recipe recipe = recipe_of("resnet18");
  recipe.width = 0.5;
  recipe.depth = 2;
  recipe.resolution = 160;
  recipe.batch = 4;
  EXPECT_EQ(model_name(recipe).value(), "resnet18_w0.5_d2_r160_b4");
}

TEST(Recipe, an_error_says_what_is_possible) {
  EXPECT_EQ(error_of(recipe_of("resnett")), "there is no family 'resnett'; did you mean 'resnet'?");
  Recipe recipe = recipe_of("vgg");
  recipe.variant = "12";
  EXPECT_EQ(error_of(recipe), "vgg has no variant '12'; it has 16, 11, 13, 19");
  recipe = recipe_of("unet");
  recipe.heads = 2;
  EXPECT_EQ(error_of(recipe),
            "unet has no --heads; it takes --width, --depth, --batch, --classes, --seed, "
            "--resolution");
  recipe = recipe_of("unet");
  recipe.width = 17;
  EXPECT_EQ(error_of(recipe), "--width 17 is out of range: it can be 0.05 to 16");
}

TEST(Recipe, a_size_that_no_number_names_is_refused) {
  Recipe recipe = recipe_of("resnet");
  recipe.width = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_of(recipe), "--width nan is out of range: it can be 0.05 to 16");
}

TEST(Recipe, an_image_that_is_too_small_is_refused) {
  Recipe recipe = recipe_of("vgg16");
  recipe.resolution = 8;
  EXPECT_NE(error_of(recipe).find("choose a larger --resolution"), std::string::npos);
}

TEST(Recipe, an_image_that_does_not_divide_evenly_is_refused) {
  Recipe recipe = recipe_of("unet");
  recipe.resolution = 100;
  EXPECT_NE(error_of(recipe).find("a multiple of 32"), std::string::npos);
}

TEST(Recipe, heads_must_divide_the_features) {
  Recipe recipe = recipe_of("bert-tiny");
  recipe.heads = 3;
  EXPECT_EQ(error_of(recipe),
            "bert-tiny_heads3: 128 features cannot be divided among 3 heads: choose --heads");
}

TEST(Recipe, a_transformer_has_the_layers_and_features_it_was_told) {
  Recipe recipe = recipe_of("vit");
  recipe.layers = 1;
  recipe.hidden = 64;
  recipe.heads = 4;
  recipe.resolution = 32;
  recipe.classes = 10;
  const auto graph = build(plan_of(recipe).value()).value();
  // Patches, class token and 5 positions; 4 projections, 2 layers, 3 normalizations; classes.
  const int64_t start = (16 * 16 * 3 * 64) + 64 + 64 + (5 * 64);
  const int64_t layer = (4 * (64 * 64 + 64)) + (64 * 256 + 256) + (256 * 64 + 64) + (2 * 128);
  EXPECT_EQ(graph.parameters(), start + layer + 128 + (64 * 10 + 10));
}

TEST(Recipe, an_lstm_both_ways_has_twice_the_weights) {
  Recipe recipe = recipe_of("lstm");
  recipe.layers = 1;
  recipe.hidden = 16;
  recipe.classes = 10;
  const int64_t one_way = (4 * 16 * (16 + 16)) + (8 * 16);
  EXPECT_EQ(build(plan_of(recipe).value())->parameters(), one_way + (16 * 10 + 10));
  recipe.bidirectional = true;
  EXPECT_EQ(build(plan_of(recipe).value())->parameters(), (2 * one_way) + (32 * 10 + 10));
}

TEST(Recipe, depth_multiplies_the_blocks_of_every_stage) {
  Recipe recipe = recipe_of("resnet18");
  const auto adds = [&recipe] {
    const auto graph = build(plan_of(recipe).value()).value();
    return std::count_if(graph.nodes().begin(), graph.nodes().end(),
                         [](const Node& node) { return node.op == "Add"; });
  };
  EXPECT_EQ(adds(), 8);
  recipe.depth = 2;
  EXPECT_EQ(adds(), 16);
  recipe.depth = 0.05;
  EXPECT_EQ(adds(), 4);
}

TEST(Recipe, the_same_recipe_gives_the_same_bytes_and_another_seed_gives_others) {
  const TemporaryFolder folder;
  Recipe recipe = recipe_of("squeezenet");
  recipe.width = 0.25;
  ASSERT_TRUE(make_model(recipe, folder.file("a")));
  ASSERT_TRUE(make_model(recipe, folder.file("b")));
  EXPECT_EQ(read_file(folder.file("a")).value(), read_file(folder.file("b")).value());
  recipe.seed = 1;
  ASSERT_TRUE(make_model(recipe, folder.file("c")));
  const auto size = std::filesystem::file_size(folder.file("a"));
  EXPECT_EQ(std::filesystem::file_size(folder.file("c")), size + std::string_view("_s1").size());
  EXPECT_NE(read_file(folder.file("a"))->substr(size - 64),
            read_file(folder.file("c"))->substr(size - 61));
}

TEST(Recipe, a_model_over_two_gigabytes_is_refused_before_a_byte_is_written) {
  const TemporaryFolder folder;
  Recipe recipe = recipe_of("vgg");
  recipe.width = 4;
  const auto made = make_model(recipe, folder.file("large.onnx"));
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("at most 2 GB"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder.file("large.onnx.part")));
}

TEST(Recipe, a_folder_that_is_not_there_is_named) {
  const auto made = make_model(recipe_of("squeezenet"), "/nowhere/model.onnx");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::environment);
  EXPECT_NE(made.error().message.find("/nowhere/model.onnx"), std::string::npos);
}

TEST(Recipe, what_cannot_be_finished_leaves_nothing_behind) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("taken"));
  ASSERT_FALSE(make_model(recipe_of("squeezenet"), folder.file("taken")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("taken.part")));
}

// As a device would: it is opened itself, which a socket does not allow, and never replaced.
TEST(Recipe, what_is_no_file_stays) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mknod(folder.file("socket").c_str(), S_IFSOCK | 0600, 0), 0);
  ASSERT_FALSE(make_model(recipe_of("squeezenet"), folder.file("socket")));
  EXPECT_TRUE(std::filesystem::is_socket(folder.file("socket")));
}

TEST(Recipe, a_link_stays_and_the_file_it_leads_to_is_written) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder.file("old"), "old"));
  std::filesystem::create_symlink(folder.file("old"), folder.file("link"));
  ASSERT_TRUE(make_model(recipe_of("squeezenet"), folder.file("link")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_GT(std::filesystem::file_size(folder.file("old")), 1'000'000U);
}

TEST(TrainingSet, is_the_same_for_a_seed_has_all_families_and_no_name_twice) {
  const auto names = [](size_t count, uint64_t seed) {
    std::vector<std::string> all;
    for (const auto& recipe : training_set(count, seed)) all.push_back(model_name(recipe).value());
    return all;
  };
  const auto set = names(60, 7);
  EXPECT_EQ(set, names(60, 7));
  EXPECT_NE(set, names(60, 8));
  const auto smaller = names(20, 7);
  EXPECT_TRUE(std::equal(smaller.begin(), smaller.end(), set.begin()));
  EXPECT_EQ(std::set<std::string>(set.begin(), set.end()).size(), 60U);
  std::set<std::string> seen;
  for (const auto& recipe : training_set(60, 7)) seen.insert(recipe.family);
  EXPECT_EQ(seen.size(), families().size());
}

TEST(TrainingSet, has_no_model_that_is_large_or_takes_long) {
  for (const auto& recipe : training_set(60, 7)) {
    const auto plan = plan_of(recipe).value();
    const auto graph = build(plan).value();
    EXPECT_LE(onnx_size(graph, plan.name), 100'000'000) << plan.name;
    EXPECT_LE(count_macs(graph), 10'000'000'000) << plan.name;
  }
}

}  // namespace
}  // namespace assay::zoo
