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

const Dims kUnknownShape = {-99};

TEST(Trace, a_rank_that_doubles_with_each_node_becomes_unknown) {
  GraphParts parts;
  parts.inputs = {value("x0", Ints{2, 2})};
  for (int i = 0; i < 40; ++i) {
    const std::string from = "x" + std::to_string(i);
    parts.nodes.push_back(node("Gather", {from, from}, {"x" + std::to_string(i + 1)}));
  }
  const Read read(model_of(parts));
  EXPECT_EQ(read.dims("x5").size(), 33U);
  EXPECT_EQ(read.dims("x6"), kUnknownShape);
  EXPECT_EQ(read.dims("x40"), kUnknownShape);
}

TEST(Trace, a_shape_of_too_many_dimensions_is_unknown) {
  const Read read(
      model_of(GraphParts{{node("RandomNormal", {}, {"y"}, {attribute("shape", Ints(65, 1))}),
                           node("RandomNormal", {}, {"z"}, {attribute("shape", Ints(64, 1))})},
                          {},
                          {},
                          {}}));
  EXPECT_EQ(read.dims("y"), kUnknownShape);
  EXPECT_EQ(read.dims("z"), Dims(64, 1));
}

TEST(Trace, a_rank_that_grows_from_loop_to_loop_becomes_unknown) {
  GraphParts parts;
  parts.inputs = {value("x0", Ints{3})};
  parts.initializers = {integers("n", {2}, true)};
  for (int i = 0; i < 64; ++i) {
    const std::string body =
        graph({{node("Identity", {"x" + std::to_string(i)}, {"o"})},
               {},
               {value("i", Ints{}, 7), value("c", Ints{}, 9)},
               {value("c", Ints{}, 9), value("o", std::vector<std::string>{})}});
    parts.nodes.push_back(
        node("Loop", {"n", ""}, {"x" + std::to_string(i + 1)}, {graph_attribute("body", body)}));
  }
  const Read read(model_of(parts));
  EXPECT_EQ(read.dims("x63").size(), 64U);
  EXPECT_EQ(read.dims("x64"), kUnknownShape);
}

void expect_too_large(const std::string& bytes) {
  const std::string error = trace_error(bytes);
  EXPECT_NE(error.find("more than 256 MiB of memory"), std::string::npos) << error;
}

TEST(Trace, a_large_function_that_is_called_often_is_refused) {
  // Half a megabyte in each of a thousand places; the file has it once.
  const std::string large =
      function("F", {node("Relu", {"in"}, {"out"}, {attribute("a", Ints(65536, 1))})});
  std::vector<std::string> calls;
  for (int i = 0; i < 1000; ++i)
    calls.push_back(node("F", {"x"}, {"y" + std::to_string(i)}, {}, "own"));
  expect_too_large(model_of(graph({calls, {}, {value("x", Ints{6})}, {}}), 13, {large}));
}

TEST(Trace, an_attribute_that_a_function_refers_to_often_is_refused) {
  std::string reference;
  protozero::pbf_writer(reference).add_string(1, "b");
  protozero::pbf_writer(reference).add_string(21, "a");
  const std::string all =
      function("F", {node("Relu", {"in"}, {"out"}, std::vector<std::string>(1000, reference))});
  const std::string call = node("F", {"x"}, {"y"}, {attribute("a", Ints(65536, 1))}, "own");
  expect_too_large(model_of(graph({{call}, {}, {value("x", Ints{6})}, {}}), 13, {all}));
}

TEST(Trace, a_long_name_that_stands_for_many_dimensions_is_refused) {
  const std::string open = value(std::string(3'000'000, 'x'), std::vector<std::string>(64));
  expect_too_large(model_of(GraphParts{{}, {}, {open}, {}}));
}

TEST(Trace, a_list_that_an_if_gives_many_times_is_refused) {
  constexpr size_t kOutputs = 20000;  // of 32 kB
  const std::string branch = graph({{node("Identity", {"list"}, {"o"})},
                                    {integers("list", Ints(4096, 1))},
                                    {},
                                    std::vector<std::string>(kOutputs, value("o", Ints{4096}, 7))});
  expect_too_large(model_of(GraphParts{
      {node("If", {"c"}, Names(kOutputs, "y"),
            {graph_attribute("then_branch", branch), graph_attribute("else_branch", branch)})},
      {integers("c", {1}, true)},
      {},
      {}}));
}

}  // namespace
}  // namespace assay::model
