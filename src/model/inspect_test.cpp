// SPDX-License-Identifier: Apache-2.0
#include "testing/onnx_writer.h"
#include "testing/read.h"

#include <nlohmann/json.hpp>

namespace assay::model {
namespace {

using namespace testing;

/// The cost of one node on zeros of those shapes; the first is the model's input.
Cost cost_of(const std::string& op, const std::vector<Ints>& shapes,
             const std::vector<std::string>& attributes = {}, int64_t opset = 13) {
  GraphParts parts;
  Names names;
  for (size_t i = 0; i < shapes.size(); ++i) {
    names.push_back("t" + std::to_string(i));
    if (i == 0)
      parts.inputs.push_back(value(names[i], shapes[i]));
    else
      parts.initializers.push_back(zeros(names[i], shapes[i]));
  }
  parts.nodes.push_back(node(op, names, {"y"}, attributes));
  return Read(model_of(parts, opset)).inspected().total;
}

TEST(Cost, convolutions_of_every_kind) {
  const auto pads = attribute("pads", Ints{1, 1, 1, 1});
  EXPECT_EQ(cost_of("Conv", {{1, 3, 8, 8}, {16, 3, 3, 3}}, {pads}).macs, 16 * 64 * 27);
  EXPECT_EQ(cost_of("Conv", {{1, 8, 8, 8}, {16, 4, 3, 3}}, {pads, attribute("group", 2)}).macs,
            16 * 64 * 36);
  EXPECT_EQ(cost_of("Conv", {{1, 16, 8, 8}, {16, 1, 3, 3}}, {pads, attribute("group", 16)}).macs,
            16 * 64 * 9);
  EXPECT_EQ(
      cost_of("ConvTranspose", {{1, 4, 5, 5}, {4, 6, 2, 2}}, {attribute("strides", Ints{2, 2})})
          .macs,
      4 * 25 * 6 * 4);
  const Cost cost = cost_of("Conv", {{1, 3, 8, 8}, {16, 3, 3, 3}}, {pads});
  EXPECT_EQ(cost.flops, 2 * cost.macs);
  EXPECT_EQ(cost.parameters, 16 * 27);
  EXPECT_EQ(cost.bytes_read, 4 * (3 * 64 + 16 * 27));
  EXPECT_EQ(cost.bytes_written, 4 * 16 * 64);
}

TEST(Cost, products_of_matrices) {
  EXPECT_EQ(cost_of("Gemm", {{2, 10}, {5, 10}}, {attribute("transB", 1)}).macs, 2 * 10 * 5);
  EXPECT_EQ(cost_of("MatMul", {{3, 4, 7}, {7, 9}}).macs, 3 * 4 * 7 * 9);
  EXPECT_EQ(
      cost_of("Einsum", {{2, 3, 4}, {2, 4, 5}}, {text_attribute("equation", "bij,bjk->bik")}).macs,
      2 * 3 * 4 * 5);
}

TEST(Cost, recurrent_layers_by_gates_steps_and_directions) {
  const auto hidden = attribute("hidden_size", 6);
  EXPECT_EQ(cost_of("LSTM", {{5, 2, 3}, {1, 24, 3}, {1, 24, 6}}, {hidden}).macs,
            5 * 2 * 4 * 6 * (3 + 6));
  EXPECT_EQ(cost_of("GRU", {{5, 2, 3}, {2, 18, 3}, {2, 18, 6}},
                    {hidden, text_attribute("direction", "bidirectional")})
                .macs,
            2 * 5 * 2 * 3 * 6 * (3 + 6));
}

TEST(Cost, quantized_layers_as_those_that_they_stand_for) {
  const Read conv(model_of(
      GraphParts{{node("QLinearConv", {"x", "s", "z", "w", "s", "z", "s", "z"}, {"y"})},
                 {zeros("s", {}), zeros("z", {}, kUint8, 1), zeros("w", {16, 3, 3, 3}, kUint8, 1)},
                 {value("x", Ints{1, 3, 10, 10}, kUint8)},
                 {}}));
  const Inspection found = conv.inspected();
  EXPECT_EQ(found.total.macs, 16 * 64 * 27);
  EXPECT_EQ(found.counts.conv_layers, 1U);
  EXPECT_EQ(found.counts.filter_details, 16);
  EXPECT_EQ(conv.value("y").known.type, kUint8);
  const Read product(model_of(GraphParts{{node("MatMulInteger", {"a", "b"}, {"y"})},
                                         {zeros("b", {7, 9}, kInt8, 1)},
                                         {value("a", Ints{4, 7}, kInt8)},
                                         {}}));
  EXPECT_EQ(product.inspected().total.macs, 4 * 7 * 9);
  EXPECT_EQ(product.value("y").known.type, kInt32);
}

TEST(Cost, attention_in_one_operator) {
  // 2 texts of 16 words, 4 heads of 8: queries against keys, and the result against values.
  const Read plain(
      model_of(GraphParts{{node("Attention", {"q", "k", "v"}, {"y"})},
                          {},
                          {value("q", Ints{2, 4, 16, 8}), value("k", Ints{2, 4, 16, 8}),
                           value("v", Ints{2, 4, 16, 8})},
                          {}},
               23));
  EXPECT_EQ(plain.inspected().total.macs, 2 * (2 * 4 * 16 * 16 * 8));
  const Read fused(model_of(GraphParts{
      {node("Attention", {"x", "w", "b"}, {"y"}, {attribute("num_heads", 4)}, "com.microsoft")},
      {zeros("w", {32, 96}), zeros("b", {96})},
      {value("x", Ints{2, 16, 32})},
      {}}));
  EXPECT_EQ(fused.inspected().total.macs, 2 * 16 * 32 * 96 + 2 * (2 * 16 * 16 * 32));
  EXPECT_EQ(fused.dims("y"), (Dims{2, 16, 32}));
}

TEST(Cost, pools_reductions_and_resizing_count_operations_without_macs) {
  const Cost pool =
      cost_of("MaxPool", {{1, 2, 8, 8}},
              {attribute("kernel_shape", Ints{2, 2}), attribute("strides", Ints{2, 2})});
  EXPECT_EQ(pool.macs, 0);
  EXPECT_EQ(pool.flops, 2 * 16 * 4);
  EXPECT_EQ(cost_of("ReduceMean", {{3, 5}}, {attribute("axes", Ints{1})}).flops, 15);
  EXPECT_EQ(cost_of("Softmax", {{3, 5}}).flops, 75);
  const Read grown(model_of(GraphParts{
      {node("Resize", {"x", "", "", "sizes"}, {"y"}, {text_attribute("mode", "linear")})},
      {integers("sizes", {1, 2, 8, 8})},
      {value("x", Ints{1, 2, 4, 4})},
      {}}));
  EXPECT_EQ(grown.inspected().total.flops, 2 * 64 * 8);
}

TEST(Cost, views_are_free_and_picks_read_what_they_write) {
  EXPECT_EQ(cost_of("Flatten", {{2, 3, 4}}).bytes_read, 0);
  GraphParts parts{{node("Gather", {"table", "ids"}, {"y"})},
                   {zeros("table", {1000, 8})},
                   {value("ids", Ints{5}, 7)},
                   {}};
  EXPECT_EQ(Read(model_of(parts)).inspected().total.bytes_read, 5 * 8 * 4 + 5 * 8);
}

TEST(Counts, are_those_that_callers_know) {
  const Read read(model_of(
      GraphParts{{node("Conv", {"x", "w1"}, {"a"}),
                  node("BatchNormalization", {"a", "s", "b", "m", "v"}, {"n"}),
                  node("MaxPool", {"n"}, {"p"},
                       {attribute("kernel_shape", Ints{2, 2}), attribute("strides", Ints{2, 2})}),
                  node("GlobalAveragePool", {"p"}, {"g"}), node("Conv", {"g", "w2"}, {"c"}),
                  node("Flatten", {"c"}, {"f"}), node("MatMul", {"f", "w3"}, {"h"}),
                  node("MatMul", {"h", "ht"}, {"q"}), node("Transpose", {"h"}, {"ht"})},
                 {zeros("w1", {8, 3, 3, 3}), zeros("s", {8}), zeros("b", {8}), zeros("m", {8}),
                  zeros("v", {8}), zeros("w2", {10, 8, 1, 1}), zeros("w3", {10, 4})},
                 {value("x", Ints{1, 3, 10, 10})},
                 {value("q", Ints{1, 1})}}));
  const Counts found = read.inspected().counts;
  EXPECT_EQ(found.conv_layers, 2U);
  EXPECT_EQ(found.pool_layers, 2U);
  EXPECT_EQ(found.fc_layers, 2U);  // the Conv behind the pool, the MatMul with weights
  EXPECT_EQ(found.filter_details, 18);
  EXPECT_EQ(found.total_parameters, 216 + 32 + 80 + 40);
  EXPECT_EQ(found.trainable_parameters, 216 + 16 + 80 + 40);
  EXPECT_EQ(found.model_input_size, 1200);
  EXPECT_EQ(found.model_output_size, 4);
}

TEST(Counts, a_long_way_back_is_not_walked_for_each_layer) {
  // Walked each time, these would be 2 * 10^10 steps, and the test would not end in its time.
  constexpr int kMany = 145'000;
  GraphParts parts;
  parts.inputs = {value("x", Ints{2, 3}), value("w", Ints{3, 3})};
  parts.nodes.push_back(node("Flatten", {"x"}, {"v0"}));
  for (int i = 0; i < kMany; ++i)
    parts.nodes.push_back(
        node("Identity", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)}));
  const std::string last = "v" + std::to_string(kMany);
  for (int i = 0; i < kMany; ++i)
    parts.nodes.push_back(node("MatMul", {last, "w"}, {"y" + std::to_string(i)}));
  EXPECT_EQ(counts(Read(model_of(parts)).traced).fc_layers, 145'000U);
}

TEST(Counts, weights_count_once_wherever_they_stand_and_shapes_do_not) {
  const std::string branch = graph(
      {{node("Add", {"x", "inner"}, {"o"})}, {zeros("inner", {6})}, {}, {value("o", Ints{2, 6})}});
  const Read read(model_of(GraphParts{
      {node("Constant", {}, {"k"}, {tensor_attribute("value", zeros("", {6}))}),
       node("ConstantOfShape", {"cs"}, {"w"}), node("Mul", {"x", "k"}, {"a"}),
       node("Mul", {"a", "k"}, {"b"}), node("MatMul", {"b", "w"}, {"m"}),
       node("Reshape", {"m", "sh"}, {"r"}),
       node("If", {"c"}, {"i"},
            {graph_attribute("then_branch", branch), graph_attribute("else_branch", branch)})},
      {integers("cs", {6, 6}), integers("sh", {3, 4})},
      {value("x", Ints{2, 6}), value("c", Ints{}, 9)},
      {}}));
  EXPECT_EQ(read.inspected().counts.total_parameters, 6 + 36 + 6 + 6);
}

TEST(Counts, whole_numbers_are_weights_where_quantized_operators_take_them) {
  const Read read(
      model_of(GraphParts{{node("DequantizeLinear", {"wq", "scale", "zero"}, {"w"}),
                           node("MatMul", {"x", "w"}, {"y"}), node("Gather", {"y", "ids"}, {"z"})},
                          {zeros("wq", {6, 4}, kInt8, 1), zeros("scale", {}),
                           zeros("zero", {}, kInt8, 1), integers("ids", {0, 1})},
                          {value("x", Ints{2, 6})},
                          {}}));
  const Counts found = read.inspected().counts;
  EXPECT_EQ(found.total_parameters, 24 + 1 + 1);
  EXPECT_EQ(found.fc_layers, 1U);
}

TEST(Memory, is_the_most_that_lives_at_once) {
  // x(100) -> a(100) -> b(100), and a is needed again at the end: a, b and c live together.
  const Read read(model_of(GraphParts{
      {node("Relu", {"x"}, {"a"}), node("Relu", {"a"}, {"b"}), node("Relu", {"b"}, {"c"}),
       node("Reshape", {"c", "s"}, {"v"}), node("Add", {"a", "v"}, {"y"})},
      {integers("s", {100})},
      {value("x", Ints{100})},
      {value("y", Ints{100})}}));
  EXPECT_EQ(read.inspected().peak_activation_bytes, 1200);
}

TEST(Document, has_the_counts_at_its_top_and_the_operators) {
  const Read read(model_of(GraphParts{
      {node("Relu", {"x"}, {"y"})}, {}, {value("x", Ints{3, 4})}, {value("y", Ints{3, 4})}}));
  const auto document = inspection_document(read.inspected());
  for (const char* key :
       {"conv_layers", "pool_layers", "fc_layers", "filter_details", "total_parameters",
        "trainable_parameters", "model_input_size", "model_output_size", "macs", "flops"})
    EXPECT_TRUE(document.at(key).is_number_unsigned()) << key;
  EXPECT_EQ(document["operators"][0]["type"], "Relu");
  EXPECT_EQ(document["operators"][0]["flops"], 12);
  EXPECT_EQ(document["operators"][0]["output_shape"], (nlohmann::json{3, 4}));
}

TEST(Text, names_from_the_file_do_not_reach_the_terminal_as_they_are) {
  const std::string name = "\033[2Jgone\n";
  const Read read(model_of(GraphParts{{node("Relu", {name}, {name + "2"})},
                                      {},
                                      {value(name, {dimension(name)})},
                                      {value(name + "2", Ints{1})}}));
  const std::string text = inspection_text(read.inspected(), false, 100);
  EXPECT_EQ(text.find('\033'), std::string::npos) << text;
}

TEST(Text, the_answer_stands_first_and_what_is_unknown_last) {
  const Read read(model_of(
      GraphParts{{node("Magic", {"x"}, {"h"}, {}, "own"), node("MatMul", {"x", "w"}, {"y"})},
                 {zeros("w", {1000, 1000})},
                 {value("x", {dimension("batch"), dimension(1000)})},
                 {value("y", Ints{1, 1000})}}));
  Inspection found = read.inspected();
  found.file = "/models/mine.onnx";
  const std::string text = inspection_text(found, false, 100);
  EXPECT_TRUE(text.starts_with("mine: 1 M parameters, 1 MMAC, 4 MB; needs ")) << text;
  EXPECT_NE(text.find("1 for batch; say otherwise with --dim NAME=N"), std::string::npos);
  EXPECT_NE(text.find("operator 'own.Magic' (1 times): its work is not counted"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::model
