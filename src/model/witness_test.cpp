// SPDX-License-Identifier: Apache-2.0
// Beside ONNX's own library: its shape inference against our rules, its checker on split models.
#include "testing/onnx_writer.h"
#include "testing/read.h"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <unordered_map>

#include <assay/base/files.h>
#include <assay/model/split.h>

// What libonnx exports, in the shape of its version 1.12; its headers would bring protobuf with
// them.
namespace onnx {
class ISchemaRegistry;
class OpSchemaRegistry {
 public:
  static OpSchemaRegistry* Instance();  // NOLINT(readability-identifier-naming)
};
class TensorShapeProto;
struct ShapeInferenceOptions {
  bool check_type = false;
  int error_mode = 0;
  bool data_propagation = true;
};
namespace checker {
void check_model(const std::string& path);
}
namespace shape_inference {
// NOLINTNEXTLINE(readability-identifier-naming)
void InferShapes(const std::string& model_path, const std::string& save_path,
                 const ISchemaRegistry* registry, const ShapeInferenceOptions& options,
                 std::unordered_map<std::string, TensorShapeProto>* generated);
}  // namespace shape_inference
}  // namespace onnx

namespace assay::model {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = [] {
    std::string name = (fs::temp_directory_path() / "assay-witness-XXXXXX").native();
    return fs::path(::mkdtemp(name.data()));
  }();
  Folder() = default;
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }
};

std::vector<fs::path> data_models() {
  const char* set = std::getenv("ASSAY_DATA");
  const fs::path folder =
      set != nullptr ? fs::path(set) : fs::path(ASSAY_SOURCE_DIR) / "../shared/data";
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder / "onnx", error)) {
    if (entry.path().extension() == ".onnx") found.push_back(entry.path());
  }
  return found;
}

bool infer(const fs::path& from, const fs::path& to) {
  try {
    const auto* registry =
        reinterpret_cast<const onnx::ISchemaRegistry*>(onnx::OpSchemaRegistry::Instance());
    onnx::shape_inference::InferShapes(from, to, registry, {}, nullptr);
    return true;
  } catch (const std::exception&) {
    return false;  // what its checker refuses
  }
}

std::string check(const fs::path& file) {
  try {
    onnx::checker::check_model(file);
    return "";
  } catch (const std::exception& e) {
    return e.what();
  }
}

/// How many sizes both tell; a difference is a failure.
size_t compare(const fs::path& file, const fs::path& inferred) {
  const auto ours = MappedFile::open(file);
  const auto theirs = MappedFile::open(inferred);
  const auto model = scan(ours->bytes(), file);
  const auto other = scan(theirs->bytes(), inferred);
  const auto traced = trace(*model, {});
  std::unordered_map<std::string, const Known*> known;
  for (const auto& step : traced->steps) {
    for (const int output : step.outputs) {
      if (output < 0 || step.level > 0) continue;
      const Value& value = traced->values[static_cast<size_t>(output)];
      known[value.name] = &value.known;
    }
  }
  size_t agreed = 0;
  for (const auto& info : other->graph.values) {
    const auto found = known.find(info.name);
    if (found == known.end() || !found->second->dims || !info.has_shape) continue;
    EXPECT_EQ(found->second->dims->size(), info.dims.size()) << file << " " << info.name;
    for (size_t i = 0; i < info.dims.size() && i < found->second->dims->size(); ++i) {
      if (!info.dims[i].size) continue;
      EXPECT_EQ((*found->second->dims)[i], *info.dims[i].size) << file << " " << info.name;
      ++agreed;
    }
  }
  return agreed;
}

TEST(Witness, sizes_that_onnx_infers_are_ours) {
  const auto files = data_models();
  if (files.empty()) GTEST_SKIP() << "no models";
  const Folder folder;
  size_t agreed = 0;
  for (const auto& file : files) {
    if (infer(file, folder.path / "inferred.onnx"))
      agreed += compare(file, folder.path / "inferred.onnx");
  }
  EXPECT_GT(agreed, 10'000U);
}

TEST(Witness, its_checker_takes_both_parts_of_a_split_model) {
  using namespace testing;
  const Folder folder;
  const fs::path file = folder.path / "m.onnx";
  ASSERT_TRUE(write_file(
      file, model_of(GraphParts{{node("Conv", {"x", "w"}, {"a"}), node("Relu", {"a"}, {"b"}),
                                 node("Reshape", {"b", "s"}, {"y"})},
                                {zeros("w", {64, 64, 3, 3}), integers("s", {1, -1})},
                                {value("x", Ints{1, 64, 8, 8})},
                                {value("y", Ints{1, 2304})}})));
  ASSERT_EQ(check(file), "");
  for (const char* tensor : {"a", "b"}) {
    const auto parts = split(file, tensor, folder.path, {});
    ASSERT_TRUE(parts) << parts.error().message;
    EXPECT_EQ(check(parts->first), "");
    EXPECT_EQ(check(parts->second), "");
  }
}

TEST(Witness, its_checker_takes_the_parts_of_real_models) {
  const auto files = data_models();
  if (files.empty()) GTEST_SKIP() << "no models";
  const Folder folder;
  for (const auto& file : files) {
    if (!check(file).empty()) continue;
    const auto mapped = MappedFile::open(file);
    const auto model = scan(mapped->bytes(), file);
    const auto cuts = cut_points(*trace(*model, {}));
    if (cuts.empty()) continue;
    const auto parts = split(file, cuts[cuts.size() / 2].tensor, folder.path, {});
    ASSERT_TRUE(parts) << parts.error().message;
    EXPECT_EQ(check(parts->first), "") << file;
    EXPECT_EQ(check(parts->second), "") << file;
  }
}

}  // namespace
}  // namespace assay::model
