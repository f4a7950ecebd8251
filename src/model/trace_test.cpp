// SPDX-License-Identifier: Apache-2.0
#include "testing/onnx_writer.h"
#include "testing/read.h"

namespace assay::model {
namespace {

using namespace testing;

std::string trace_error(const std::string& bytes) {
  const auto model = scan(bytes, "m.onnx");
  if (!model) return model.error().message;
  const auto found = trace(*model, {});
  return found ? "" : found.error().message;
}

TEST(Trace, a_reshape_by_computed_shape_is_followed) {
  // As exporters write view(x.size(0), -1).
  const Read read(model_of(
      GraphParts{{node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"b"}),
                  node("Unsqueeze", {"b", "axes"}, {"b1"}),
                  node("Concat", {"b1", "rest"}, {"shape"}, {attribute("axis", 0)}),
                  node("Reshape", {"x", "shape"}, {"y"})},
                 {integers("zero", {0}, true), integers("axes", {0}), integers("rest", {-1})},
                 {value("x", Ints{4, 3, 8, 8})},
                 {value("y", std::vector<std::string>{})}}));
  EXPECT_EQ(read.dims("y"), (Dims{4, 192}));
}

TEST(Trace, nodes_out_of_order_are_sorted) {
  const Read read(model_of(GraphParts{{node("Relu", {"h"}, {"y"}), node("Neg", {"x"}, {"h"})},
                                      {},
                                      {value("x", Ints{2, 5})},
                                      {value("y", std::vector<std::string>{})}}));
  EXPECT_EQ(read.traced.steps[0].node->op, "Neg");
  EXPECT_EQ(read.dims("y"), (Dims{2, 5}));
}

TEST(Trace, a_cycle_is_an_error) {
  const std::string error = trace_error(
      model_of(GraphParts{{node("Relu", {"a"}, {"b"}), node("Neg", {"b"}, {"a"})}, {}, {}, {}}));
  EXPECT_NE(error.find("cycle"), std::string::npos) << error;
}

TEST(Trace, symbolic_dimensions_are_bound_or_count_as_1_and_are_named) {
  const std::string bytes =
      model_of(GraphParts{{node("Relu", {"x"}, {"y"})},
                          {},
                          {value("x", {dimension("batch"), dimension("length"), dimension(64)})},
                          {}});
  const Read free(bytes);
  EXPECT_EQ(free.dims("y"), (Dims{1, 1, 64}));
  EXPECT_EQ(free.traced.unbound_dims, (std::set<std::string>{"batch", "length"}));
  const Read bound(bytes, {{{"batch", 8}, {"length", 128}}});
  EXPECT_EQ(bound.dims("y"), (Dims{8, 128, 64}));
  EXPECT_TRUE(bound.traced.unbound_dims.empty());
}

TEST(Trace, unknown_operators_are_named_and_the_rest_goes_on) {
  const Read read(
      model_of(GraphParts{{node("Magic", {"x"}, {"h"}, {}, "my.own"), node("Relu", {"x"}, {"y"})},
                          {},
                          {value("x", Ints{2, 5})},
                          {}}));
  EXPECT_EQ(read.traced.unknown_operators.at("my.own.Magic"), 1U);
  EXPECT_EQ(read.dims("y"), (Dims{2, 5}));
}

TEST(Trace, a_loop_runs_its_body_as_often_as_it_says) {
  const std::string body =
      graph({{node("Relu", {"h"}, {"h2"}), node("Identity", {"c"}, {"c2"})},
             {},
             {value("i", Ints{}, 7), value("c", Ints{}, 9), value("h", Ints{3})},
             {value("c2", Ints{}, 9), value("h2", Ints{3})}});
  const Read read(
      model_of(GraphParts{{node("Loop", {"n", "", "x"}, {"y"}, {graph_attribute("body", body)})},
                          {integers("n", {7}, true)},
                          {value("x", Ints{3})},
                          {}}));
  EXPECT_EQ(read.traced.steps[0].times, 7);
  EXPECT_EQ(read.dims("y"), (Dims{3}));
}

TEST(Trace, of_two_branches_that_differ_the_dearer_counts) {
  const std::string cheap = graph({{node("Relu", {"x"}, {"a"})}, {}, {}, {value("a", Ints{4, 8})}});
  const std::string dear = graph(
      {{node("MatMul", {"x", "w"}, {"b"})}, {zeros("w", {8, 8})}, {}, {value("b", Ints{4, 8})}});
  const Read read(model_of(GraphParts{
      {node("If", {"c"}, {"y"},
            {graph_attribute("then_branch", cheap), graph_attribute("else_branch", dear)})},
      {},
      {value("c", Ints{}, 9), value("x", Ints{4, 8})},
      {}}));
  const Inspection found = read.inspected();
  EXPECT_EQ(found.total.macs, 4 * 8 * 8);
  EXPECT_EQ(found.counts.total_parameters, 64);
  EXPECT_EQ(read.dims("y"), (Dims{4, 8}));
}

TEST(Trace, a_scan_takes_its_length_from_its_input) {
  const std::string body =
      graph({{node("Add", {"s", "e"}, {"s2"}), node("Identity", {"s2"}, {"o"})},
             {},
             {value("s", Ints{4}), value("e", Ints{4})},
             {value("s2", Ints{4}), value("o", Ints{4})}});
  const Read read(
      model_of(GraphParts{{node("Scan", {"s0", "x"}, {"last", "all"},
                                {graph_attribute("body", body), attribute("num_scan_inputs", 1)})},
                          {},
                          {value("s0", Ints{4}), value("x", Ints{9, 4})},
                          {}}));
  EXPECT_EQ(read.traced.steps[0].times, 9);
  EXPECT_EQ(read.dims("last"), (Dims{4}));
  EXPECT_EQ(read.dims("all"), (Dims{9, 4}));
}

std::string function(const std::string& name, const std::vector<std::string>& nodes) {
  std::string data;
  protozero::pbf_writer writer(data);
  writer.add_string(1, name);
  writer.add_string(4, "in");
  writer.add_string(5, "out");
  for (const auto& one : nodes) writer.add_message(7, one);
  writer.add_string(10, "own");
  return data;
}

TEST(Trace, functions_of_the_model_are_put_in_place) {
  const std::string twice =
      function("Twice", {node("Relu", {"in"}, {"h"}), node("Neg", {"h"}, {"out"})});
  const Read read(
      model_of(graph({{node("Twice", {"x"}, {"y"}, {}, "own")}, {}, {value("x", Ints{6})}, {}}), 13,
               {twice}));
  EXPECT_EQ(read.traced.steps.size(), 3U);
  EXPECT_EQ(read.dims("y"), (Dims{6}));
  EXPECT_TRUE(read.traced.unknown_operators.empty());
}

TEST(Trace, functions_that_call_themselves_are_an_error) {
  const std::string endless = function("F", {node("F", {"in"}, {"out"}, {}, "own")});
  EXPECT_NE(trace_error(
                model_of(graph({{node("F", {"x"}, {"y"}, {}, "own")}, {}, {}, {}}), 13, {endless}))
                .find("without an end"),
            std::string::npos);
}

TEST(Trace, functions_that_multiply_are_bounded) {
  std::vector<std::string> functions = {function("F0", {node("Relu", {"in"}, {"out"})})};
  for (int i = 1; i < 23; ++i) {
    const std::string below = "F" + std::to_string(i - 1);
    functions.push_back(
        function("F" + std::to_string(i),
                 {node(below, {"in"}, {"h"}, {}, "own"), node(below, {"h"}, {"out"}, {}, "own")}));
  }
  EXPECT_NE(trace_error(model_of(graph({{node("F22", {"x"}, {"y"}, {}, "own")}, {}, {}, {}}), 13,
                                 functions))
                .find("more than 300000 nodes"),
            std::string::npos);
}

TEST(Trace, hostile_sizes_become_unknown_ones) {
  const Read read(model_of(
      GraphParts{{node("Conv", {"x", "w"}, {"y"},
                       {attribute("pads", Ints{INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}),
                        attribute("strides", Ints{0, -5})}),
                  node("Tile", {"x", "r"}, {"z"})},
                 {zeros("w", {1, 1, 1, 1}), integers("r", {INT64_MAX, 1, INT64_MIN, 2})},
                 {value("x", Ints{1, 1, INT64_MAX, 5})},
                 {}}));
  EXPECT_EQ(read.dims("x"), (Dims{1, 1, -1, 5}));
  EXPECT_EQ(read.dims("z"), (Dims{kLargestDim, 1, -1, 10}));
}

}  // namespace
}  // namespace assay::model
