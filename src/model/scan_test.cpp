// SPDX-License-Identifier: Apache-2.0
#include "testing/onnx_writer.h"

#include <fstream>

#include <assay/model/graph.h>
#include <gtest/gtest.h>

namespace assay::model {
namespace {

using namespace testing;

std::string small_model() {
  return model_of(GraphParts{{node("Conv", {"x", "w"}, {"y"}, {attribute("strides", Ints{2, 2})})},
                             {zeros("w", {8, 3, 3, 3})},
                             {value("x", Ints{1, 3, 32, 32})},
                             {value("y", Ints{1, 8, 15, 15})}});
}

std::string error_of(const std::string& bytes) {
  const auto found = scan(bytes, "m.onnx");
  return found ? "" : found.error().message;
}

TEST(Scan, finds_nodes_weights_ends_and_opsets) {
  const std::string bytes = small_model();
  const auto model = scan(bytes, "m.onnx");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->ir_version, 8);
  EXPECT_EQ(model->producer, "assay-test");
  EXPECT_EQ(model->opsets.at(""), 13);
  ASSERT_EQ(model->graph.nodes.size(), 1U);
  EXPECT_EQ(model->graph.nodes[0].op, "Conv");
  EXPECT_EQ(model->graph.nodes[0].attribute("strides")->integers, (Ints{2, 2}));
  ASSERT_EQ(model->graph.initializers.size(), 1U);
  EXPECT_EQ(model->graph.initializers[0].dims, (Ints{8, 3, 3, 3}));
  EXPECT_EQ(model->graph.initializers[0].place, Place::raw);
  EXPECT_EQ(model->graph.initializers[0].stored_bytes, 8U * 27 * 4);
  EXPECT_EQ(model->graph.inputs[0].dims[3].size, 32);
}

TEST(Scan, keeps_small_tensors_and_only_describes_large_ones) {
  const std::string bytes =
      model_of(GraphParts{{}, {integers("shape", {1, -1, 7}), zeros("big", {100, 100})}, {}, {}});
  const auto model = scan(bytes, "m.onnx");
  ASSERT_TRUE(model);
  EXPECT_EQ(*model->graph.initializers[0].numbers, (std::vector<double>{1, -1, 7}));
  EXPECT_FALSE(model->graph.initializers[1].numbers);
}

TEST(Scan, external_data_are_described) {
  const std::string bytes =
      model_of(GraphParts{{}, {external("w", {1000, 1000}, "weights.bin")}, {}, {}});
  const auto model = scan(bytes, "m.onnx");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->graph.initializers[0].place, Place::external);
  EXPECT_EQ(model->graph.initializers[0].location, "weights.bin");
  EXPECT_EQ(model->graph.initializers[0].elements(), 1e6);
}

TEST(Scan, what_is_no_model_is_told_so) {
  EXPECT_EQ(error_of(""), "m.onnx is empty");
  EXPECT_NE(error_of("# a text file\n").find("m.onnx is no ONNX model: "), std::string::npos);
  EXPECT_EQ(error_of(std::string("\x08\x08", 2)), "m.onnx is no ONNX model: it has no graph");
}

TEST(Scan, every_cut_is_an_error_that_says_where) {
  const std::string whole = small_model();
  const size_t graph_end = whole.size() - 8;  // the opset comes last
  for (size_t length = 1; length < graph_end; ++length) {
    const std::string error = error_of(whole.substr(0, length));
    EXPECT_NE(error, "") << length;
    const bool between_fields = length == 2 || length == 14;
    EXPECT_EQ(error.find("cut off") == std::string::npos, between_fields) << length << error;
  }
}

TEST(Scan, graphs_nested_without_end_are_refused) {
  std::string inner = graph({});
  for (int i = 0; i < 100; ++i)
    inner =
        graph({{node("If", {"c"}, {"y"}, {graph_attribute("then_branch", inner)})}, {}, {}, {}});
  EXPECT_NE(error_of(model_of(inner)).find("nested deeper"), std::string::npos);
}

TEST(Scan, what_takes_few_bytes_in_a_file_and_many_in_memory_is_bounded) {
  std::string many;
  protozero::pbf_writer writer(many);
  for (int i = 0; i < 2'000'000; ++i)
    writer.add_message(11, std::string());  // graphs of an attribute
  EXPECT_NE(error_of(model_of(GraphParts{{node("If", {}, {}, {many})}, {}, {}, {}})), "");
  const Names shapes(100'000, value("v", Ints(64, 1)));
  EXPECT_NE(error_of(model_of(GraphParts{{}, {}, shapes, {}})).find("more than 256 MiB"),
            std::string::npos);
  EXPECT_NE(error_of(model_of(GraphParts{{node("Split", {"x"}, Names(65537, "y"))}, {}, {}, {}}))
                .find("a node with more than 65536 outputs"),
            std::string::npos);
}

TEST(Scan, numbers_where_messages_belong_are_skipped) {
  std::string inner;
  protozero::pbf_writer writer(inner);
  for (const uint32_t tag : {1U, 5U, 11U, 12U, 13U, 15U}) writer.add_int64(tag, 5);
  const std::string bytes = model_of(inner);
  const auto model = scan(bytes, "m.onnx");
  ASSERT_TRUE(model);
  EXPECT_TRUE(model->graph.nodes.empty());
  EXPECT_TRUE(model->graph.initializers.empty());
  EXPECT_TRUE(model->graph.inputs.empty());
}

TEST(Scan, a_weight_of_negative_size_is_refused) {
  std::string tensor;
  protozero::pbf_writer(tensor).add_int64(1, -5);
  EXPECT_NE(error_of(model_of(GraphParts{{}, {tensor}, {}, {}})).find("negative size"),
            std::string::npos);
}

/// A field's beginning: its tag and a length of any size.
std::string head(uint32_t tag, uint64_t length) {
  std::string text;
  protozero::add_varint_to_buffer(&text, uint64_t{tag} << 3U | 2U);
  protozero::add_varint_to_buffer(&text, length);
  return text;
}

TEST(Scan, files_beyond_4_GB_are_read_without_their_weights) {
  constexpr uint64_t kBytes = 6'000'000'000;
  std::string tensor;
  protozero::pbf_writer(tensor).add_int64(1, kBytes / 4);
  protozero::pbf_writer(tensor).add_int32(2, kFloat);
  tensor += head(9, kBytes);
  std::string start = head(5, tensor.size() + kBytes) + tensor;
  start = std::string("\x08\x08") + head(7, start.size() + kBytes) + start;
  std::string name = "/tmp/assay-large-XXXXXX";
  const Fd file(::mkstemp(name.data()));
  ASSERT_TRUE(write_all(file.get(), start));
  ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(start.size() + kBytes)), 0);  // all holes
  const auto mapped = MappedFile::open(name);
  ::unlink(name.c_str());
  ASSERT_TRUE(mapped);
  const auto model = scan(mapped->bytes(), name, &*mapped);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->graph.initializers.at(0).elements(), kBytes / 4.0);
  EXPECT_EQ(model->graph.initializers.at(0).stored_bytes, kBytes);
}

TEST(MappedFile, says_what_is_wrong_with_a_file) {
  EXPECT_EQ(MappedFile::open("/no/such/file.onnx").error().message,
            "there is no file /no/such/file.onnx");
  EXPECT_EQ(MappedFile::open("/").error().message, "/ is no file with a model");
  EXPECT_EQ(MappedFile::open("/no/such/file.onnx").error().kind, ErrorKind::input);
}

}  // namespace
}  // namespace assay::model
