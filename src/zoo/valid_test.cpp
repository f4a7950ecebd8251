// SPDX-License-Identifier: Apache-2.0
#include "family.h"
#include "onnx_file.h"
#include "testing/small_models.h"
#include "testing/temporary_folder.h"

#include <fstream>
#include <map>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>
#include <set>

#include <gtest/gtest.h>

// What others say about our files: ONNX's own checker, and its shapes beside ours.
namespace assay::zoo {
namespace {

onnx::ModelProto load(const std::filesystem::path& file) {
  onnx::ModelProto model;
  std::ifstream stream(file, std::ios::binary);
  EXPECT_TRUE(model.ParseFromIstream(&stream)) << file;
  return model;
}

Shape shape_of(const onnx::ValueInfoProto& info) {
  Shape shape;
  for (const auto& size : info.type().tensor_type().shape().dim())
    shape.push_back(size.dim_value());
  return shape;
}

std::map<std::string, Shape> inferred_shapes(onnx::ModelProto& model) {
  const onnx::ShapeInferenceOptions strict(true, 1, true);
  onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), strict);
  std::map<std::string, Shape> shapes;
  for (const auto& info : model.graph().value_info()) shapes[info.name()] = shape_of(info);
  for (const auto& info : model.graph().output()) shapes[info.name()] = shape_of(info);
  return shapes;
}

void expect_valid(const Recipe& recipe) {
  const TemporaryFolder folder;
  const auto file = folder.file("model.onnx");
  const auto plan = plan_of(recipe).value();
  SCOPED_TRACE(plan.name);
  const auto graph = build(plan);
  ASSERT_TRUE(graph) << graph.error().message;
  const auto size = write_onnx(*graph, plan.name, 1, file);
  ASSERT_TRUE(size) << size.error().message;
  EXPECT_EQ(static_cast<uintmax_t>(*size), std::filesystem::file_size(file));
  auto model = load(file);
  ASSERT_NO_THROW(onnx::checker::check_model(model));
  const auto shapes = inferred_shapes(model);
  for (const auto& node : graph->nodes()) {
    ASSERT_TRUE(shapes.contains(node.output)) << node.output;
    EXPECT_EQ(shapes.at(node.output), node.shape) << node.output;
  }
}

TEST(Valid, every_variant_passes_the_checker_and_has_the_shapes_that_onnx_infers) {
  for (const auto& recipe : small_models()) expect_valid(recipe);
}

TEST(Valid, so_do_other_batches_depths_and_odd_resolutions) {
  for (auto recipe : small_models()) {
    recipe.batch = 3;
    recipe.depth = 0.5;
    recipe.classes = 7;
    // Those that add two ways of different rounding take multiples of 32.
    const std::set<std::string> even{"nasbench201", "unet", "yolo"};
    if (recipe.resolution) recipe.resolution = even.contains(recipe.family) ? 96 : 111;
    expect_valid(recipe);
  }
}

TEST(Valid, weights_in_the_file_have_the_scale_they_were_drawn_with) {
  const TemporaryFolder folder;
  Recipe recipe;
  recipe.family = "resnet18";
  recipe.width = 0.25;
  ASSERT_TRUE(make_model(recipe, folder.file("model.onnx")));
  const auto model = load(folder.file("model.onnx"));
  const auto& first = model.graph().initializer(0);
  ASSERT_EQ(first.name(), "Conv_0.weight");
  const std::string& data = first.raw_data();
  ASSERT_EQ(data.size(), sizeof(float) * 16 * 3 * 7 * 7);
  double squares = 0;
  for (size_t at = 0; at < data.size(); at += sizeof(float)) {
    float number = 0;
    std::memcpy(&number, data.data() + at, sizeof number);
    squares += static_cast<double>(number) * number;
  }
  // He: two over the number of inputs.
  EXPECT_NEAR(squares / (16 * 3 * 7 * 7), 2.0 / (3 * 7 * 7), 0.1 * 2.0 / (3 * 7 * 7));
}

TEST(Valid, no_two_layers_have_the_same_weights) {
  const TemporaryFolder folder;
  Recipe recipe;
  recipe.family = "resnet18";
  recipe.width = 0.25;
  ASSERT_TRUE(make_model(recipe, folder.file("model.onnx")));
  const auto model = load(folder.file("model.onnx"));
  std::set<std::string> seen;
  for (const auto& weight : model.graph().initializer()) {
    EXPECT_TRUE(seen.insert(weight.raw_data()).second) << weight.name();
  }
}

}  // namespace
}  // namespace assay::zoo
