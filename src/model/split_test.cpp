// SPDX-License-Identifier: Apache-2.0
#include "testing/onnx_writer.h"
#include "testing/read.h"

#include <cstdlib>
#include <filesystem>

#include <assay/base/files.h>
#include <assay/model/split.h>

namespace assay::model {
namespace {

using namespace testing;
namespace fs = std::filesystem;

/// A folder that goes with the test.
struct Folder {
  fs::path path = [] {
    std::string name = (fs::temp_directory_path() / "assay-split-XXXXXX").native();
    return fs::path(::mkdtemp(name.data()));
  }();
  Folder() = default;
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }
};

/// Two blocks with a way around the second: a is a cut, b and c are not, d is.
std::string blocks() {
  return model_of(
      GraphParts{{node("Identity", {"w1"}, {"w1i"}), node("MatMul", {"x", "w1i"}, {"a"}),
                  node("Relu", {"a"}, {"b"}), node("MatMul", {"b", "w2"}, {"c"}),
                  node("Add", {"a", "c"}, {"d"}), node("MatMul", {"d", "w1i"}, {"y"})},
                 {zeros("w1", {300, 300}), zeros("w2", {300, 300})},
                 {value("x", Ints{2, 300})},
                 {value("y", Ints{2, 300})}});
}

TEST(Cut, only_tensors_that_cross_alone_are_cut_points) {
  const Read read(blocks());
  const auto cuts = cut_points(read.traced);
  ASSERT_EQ(cuts.size(), 2U);
  EXPECT_EQ(cuts[0].tensor, "a");
  EXPECT_EQ(cuts[1].tensor, "d");
  EXPECT_EQ(cuts[0].bytes, 2 * 300 * 4);
  EXPECT_EQ(cuts[0].before.macs, 2 * 300 * 300);
  EXPECT_EQ(cuts[0].behind.macs, 2 * 2 * 300 * 300);
}

TEST(Cut, an_input_that_is_used_late_crosses_too) {
  const Read read(model_of(GraphParts{
      {node("Relu", {"x"}, {"a"}), node("Neg", {"a"}, {"b"}), node("Add", {"b", "x"}, {"y"})},
      {},
      {value("x", Ints{4})},
      {value("y", Ints{4})}}));
  EXPECT_TRUE(cut_points(read.traced).empty());
}

TEST(Split, the_parts_have_what_they_need_and_together_all_of_the_work) {
  const Folder folder;
  const fs::path file = folder.path / "m.onnx";
  ASSERT_TRUE(write_file(file, blocks()));
  const auto parts = split(file, "d", folder.path / "out", {});
  ASSERT_TRUE(parts) << parts.error().message;
  const auto whole = inspect(file, {});
  const auto first = inspect(parts->first, {});
  const auto second = inspect(parts->second, {});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->total.macs + second->total.macs, whole->total.macs);
  EXPECT_EQ(first->outputs.front().name, "d");
  EXPECT_EQ(second->inputs.front().name, "d");
  EXPECT_EQ(*second->inputs.front().known.dims, (Dims{2, 300}));
  EXPECT_EQ(first->counts.total_parameters, 2 * 300 * 300);
  EXPECT_EQ(second->counts.total_parameters, 300 * 300);  // w1 is needed on both sides
  EXPECT_FALSE(fs::exists(folder.path / "out" / "m-1.onnx.part"));
}

TEST(Split, a_result_that_is_constant_stays_one) {
  const Folder folder;
  const fs::path file = folder.path / "m.onnx";
  ASSERT_TRUE(
      write_file(file, model_of(GraphParts{{node("Identity", {"w"}, {"c"}),
                                            node("Relu", {"x"}, {"a"}), node("Neg", {"a"}, {"y"})},
                                           {integers("w", {7})},
                                           {value("x", Ints{2})},
                                           {value("y", Ints{2}), value("c", Ints{1}, 7)}})));
  const auto parts = split(file, "a", folder.path / "out", {});
  ASSERT_TRUE(parts) << parts.error().message;
  const auto has_it = [](const fs::path& part) {
    return read_file(part, 1 << 20).value_or("").find("Identity") != std::string::npos;
  };
  EXPECT_TRUE(has_it(parts->second));
  EXPECT_FALSE(has_it(parts->first));
}

TEST(Split, what_is_no_cut_point_is_refused_with_a_hint) {
  const Folder folder;
  const fs::path file = folder.path / "m.onnx";
  ASSERT_TRUE(write_file(file, blocks()));
  const auto parts = split(file, "b", folder.path, {});
  ASSERT_FALSE(parts);
  EXPECT_EQ(parts.error().kind, ErrorKind::input);
  EXPECT_NE(parts.error().message.find("--list"), std::string::npos);
}

TEST(Split, external_weights_come_along_and_never_from_outside) {
  const Folder folder;
  const auto written = [&](const std::string& location) {
    const fs::path file = folder.path / "m.onnx";
    EXPECT_TRUE(write_file(
        file, model_of(GraphParts{{node("MatMul", {"x", "w"}, {"a"}), node("Relu", {"a"}, {"y"})},
                                  {external("w", {4, 4}, location)},
                                  {value("x", Ints{1, 4})},
                                  {value("y", Ints{1, 4})}})));
    return split(file, "a", folder.path / "out", {});
  };
  ASSERT_TRUE(write_file(folder.path / "w.bin", std::string(64, 'w')));
  ASSERT_TRUE(written("w.bin"));
  EXPECT_EQ(read_file(folder.path / "out" / "w.bin").value_or(""), std::string(64, 'w'));
  EXPECT_FALSE(written("../../etc/passwd"));
}

}  // namespace
}  // namespace assay::model
