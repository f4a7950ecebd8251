// SPDX-License-Identifier: Apache-2.0
#include "testing/onnx_writer.h"
#include "testing/read.h"

#include <assay/model/piece.h>

namespace assay::model {
namespace {

using namespace testing;

std::string named(const std::string& op, const Names& inputs, const std::string& output,
                  const std::vector<std::string>& attributes = {}) {
  return node(op, inputs, {output}, attributes);
}

/// Two convolutions with normalization and activation, and what they read added behind them.
GraphParts residual() {
  GraphParts parts;
  parts.inputs.push_back(value("x", {1, 16, 8, 8}));
  parts.outputs.push_back(value("y", {1, 16, 8, 8}));
  parts.initializers = {zeros("w", {16, 16, 3, 3}), zeros("v", {16, 16, 3, 3}), zeros("s", {16})};
  const auto pads = attribute("pads", Ints{1, 1, 1, 1});
  parts.nodes = {named("Conv", {"x", "w"}, "a", {pads}),
                 named("BatchNormalization", {"a", "s", "s", "s", "s"}, "b"),
                 named("Relu", {"b"}, "c"),
                 named("Conv", {"c", "v"}, "d", {pads}),
                 named("Add", {"d", "x"}, "e"),
                 named("Relu", {"e"}, "y")};
  return parts;
}

Pieces pieces_of(const GraphParts& parts) {
  return pieces(Read(model_of(parts, 13)).traced);
}

TEST(Pieces, what_engines_merge_is_one) {
  const Pieces found = pieces_of(residual());
  ASSERT_EQ(found.list.size(), 3U);
  const Piece& first = found.list[0];
  EXPECT_EQ(first.kind, "conv");
  EXPECT_EQ(first.macs, 16 * 64 * 16 * 9);
  EXPECT_EQ(first.merged, 2);
  EXPECT_EQ(first.channels_in, 16);
  EXPECT_EQ(first.channels_out, 16);
  EXPECT_EQ(first.positions, 64);
  EXPECT_EQ(first.window, 9);
  EXPECT_EQ(first.weight_bytes, 4 * 16 * 16 * 9);
  EXPECT_EQ(found.list[1].kind, "conv");
  EXPECT_EQ(found.list[1].merged, 2);  // the sum and what is behind it
  EXPECT_GT(found.list[1].merged_bytes, first.merged_bytes - 4 * 4 * 16);
  EXPECT_EQ(found.list[2].kind, "call");
  EXPECT_EQ(found.list[2].bytes_read, 2 * 4 * 16 * 64);
  EXPECT_EQ(found.by_name.at("y"), 1U);
}

TEST(Pieces, that_are_alike_are_one_that_runs_several_times) {
  GraphParts parts = residual();
  parts.nodes = {named("Relu", {"x"}, "a"), named("Flatten", {"a"}, "f"),
                 named("MatMul", {"x", "m"}, "p"), named("MatMul", {"x", "n"}, "y")};
  parts.initializers = {zeros("m", {8, 4}), zeros("n", {8, 4})};
  const Pieces found = pieces_of(parts);
  ASSERT_EQ(found.list.size(), 3U);
  EXPECT_EQ(found.list[0].kind, "mapping");
  EXPECT_EQ(found.list[1].kind, "product");
  EXPECT_EQ(found.list[1].times, 2);
  EXPECT_EQ(found.list[1].macs, 16 * 8 * 8 * 4);
  EXPECT_EQ(found.by_name.at("p"), found.by_name.at("y"));
  EXPECT_EQ(found.by_name.at("f"), 0U);
}

TEST(Pieces, get_what_an_engine_says_that_operators_took) {
  const Pieces found = pieces_of(residual());
  // Names go on behind a name of ours, what is unknown counts to what ran before, and the rest of
  // the inference is the call.
  const auto seconds = piece_seconds(
      found, {{"c_nchwc", 0.5}, {"ReorderOutput", 0.25}, {"fused d", 1}, {"y:0", 0.25}}, 2.5);
  EXPECT_EQ(seconds, (std::vector<double>{0.75, 1.25, 0.5}));
}

TEST(Pieces, of_a_loop_run_as_often_as_it_does_and_the_loop_itself_is_none) {
  const std::string body = graph({{node("MatMul", {"x", "m"}, {"o"})},
                                  {},
                                  {value("i", Ints{}, 7), value("c", Ints{}, 9)},
                                  {value("c", Ints{}, 9), value("o", Ints{4, 4})}});
  GraphParts parts;
  parts.inputs.push_back(value("x", Ints{4, 4}));
  parts.initializers = {zeros("m", {4, 4}), integers("n", {7}, true)};
  parts.nodes.push_back(node("Loop", {"n", ""}, {"y"}, {graph_attribute("body", body)}));
  const Pieces found = pieces_of(parts);
  ASSERT_EQ(found.list.size(), 2U);
  EXPECT_EQ(found.list[0].kind, "product");
  EXPECT_EQ(found.list[0].times, 7);
  EXPECT_EQ(found.list[0].macs, 4 * 4 * 4);
  EXPECT_EQ(piece_seconds(found, {{"o", 1}, {"y", 1.25}}, 1.5), (std::vector<double>{1, 0.5}));
}

TEST(Pieces, never_take_more_than_the_whole) {
  const auto seconds = piece_seconds(pieces_of(residual()), {{"c", 2}, {"y", 2}}, 2);
  ASSERT_EQ(seconds.size(), 3U);
  EXPECT_NEAR(seconds[0], 0.98, 1e-12);
  EXPECT_NEAR(seconds[1], 0.98, 1e-12);
  EXPECT_NEAR(seconds[2], 0.04, 1e-12);
}

TEST(Pieces, are_not_told_by_names_of_another_model) {
  EXPECT_EQ(piece_seconds(pieces_of(residual()), {{"c", 2}, {"other", 1}}, 4).size(), 3U);
  EXPECT_TRUE(piece_seconds(pieces_of(residual()), {{"cc", 1}, {"other", 2}}, 4).empty());
  EXPECT_TRUE(piece_seconds(pieces_of(residual()), {}, 4).empty());
}

}  // namespace
}  // namespace assay::model
