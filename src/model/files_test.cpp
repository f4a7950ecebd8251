// SPDX-License-Identifier: Apache-2.0
// Real files: those of ONNX's own tests, and a folder of models with reference counts where it is
// there (ASSAY_DATA).
#include "operators.h"
#include "scan_tensor.h"
#include "testing/read.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <assay/base/text.h>

namespace assay::model {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> models_under(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; at != end; at.increment(error)) {
    if (at->path().extension() == ".onnx") found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

fs::path data_folder() {
  const char* set = std::getenv("ASSAY_DATA");
  return set != nullptr ? fs::path(set) : fs::path(ASSAY_SOURCE_DIR) / "../shared/data";
}

const fs::path kTestData = "/usr/share/libonnx-testdata/data";

TEST(Files, all_of_onnx_own_test_models_are_inspected) {
  const auto files = models_under(kTestData);
  if (files.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  EXPECT_GT(files.size(), 1000U);
  for (const auto& file : files) {
    const auto found = inspect(file, {});
    EXPECT_TRUE(found) << file << ": " << (found ? "" : found.error().message);
  }
}

/// What a model's outputs are without what the file says of them.
std::vector<Known> inferred_outputs(Model& model) {
  model.graph.values.clear();
  for (auto& output : model.graph.outputs) output.has_shape = false;
  const auto traced = trace(model, {});
  std::vector<Known> outputs;
  outputs.reserve(traced->outputs.size());
  for (const int output : traced->outputs)
    outputs.push_back(traced->values[static_cast<size_t>(output)].known);
  return outputs;
}

struct Tally {
  size_t agreed = 0;
  size_t open = 0;
};

/// The contents of inputs as the test gives them, so that shapes that depend on them are known.
void give_inputs(const fs::path& file, Model& model, std::deque<std::string>& kept) {
  for (size_t i = 0; i < model.graph.inputs.size(); ++i) {
    const auto bytes =
        read_file(file.parent_path() / "test_data_set_0" / ("input_" + std::to_string(i) + ".pb"));
    if (!bytes || !model.graph.inputs[i].is_tensor) continue;
    Progress progress(kept.emplace_back(*bytes), nullptr);
    Tensor tensor = scan_tensor(kept.back(), progress);
    tensor.name = model.graph.inputs[i].name;
    tensor.type = model.graph.inputs[i].type;
    if (!progress.failed()) model.graph.initializers.push_back(std::move(tensor));
  }
}

void compare_outputs(const fs::path& file, Tally& tally) {
  const auto mapped = MappedFile::open(file);
  auto model = scan(mapped->bytes(), file);
  std::deque<std::string> kept;
  give_inputs(file, *model, kept);
  const std::vector<ValueInfo> told = model->graph.outputs;
  const std::vector<Known> ours = inferred_outputs(*model);
  for (size_t i = 0; i < told.size(); ++i) {
    if (!told[i].is_tensor || !told[i].has_shape) continue;
    if (!ours[i].dims) {
      ++tally.open;
      continue;
    }
    EXPECT_EQ(ours[i].dims->size(), told[i].dims.size()) << file << " " << told[i].name;
    EXPECT_EQ(ours[i].type, told[i].type) << file << " " << told[i].name;
    bool complete = true;
    for (size_t j = 0; j < ours[i].dims->size() && j < told[i].dims.size(); ++j) {
      complete = complete && (*ours[i].dims)[j] >= 0;
      if ((*ours[i].dims)[j] < 0 || !told[i].dims[j].size || !told[i].dims[j].name.empty())
        continue;
      EXPECT_EQ((*ours[i].dims)[j], *told[i].dims[j].size)
          << file << " " << told[i].name << " " << j;
    }
    ++(complete ? tally.agreed : tally.open);
  }
}

TEST(Files, shapes_by_our_rules_are_those_that_onnx_tests_declare) {
  const auto files = models_under(kTestData);
  if (files.empty()) GTEST_SKIP() << "libonnx-testdata is not installed";
  Tally tally;
  for (const auto& file : files) compare_outputs(file, tally);
  // The rest depends on data that come with the tests, or on lists of tensors.
  EXPECT_GT(tally.agreed, 10 * tally.open) << tally.agreed << " " << tally.open;
}

TEST(Files, at_least_60_types_of_operators_have_a_cost) {
  EXPECT_GE(known_operators(), 150U);
}

/// A row of reference_counts.csv: columns by name.
std::vector<std::map<std::string, std::string>> reference_rows(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(in, line)) {
    std::string_view rest = line;
    std::map<std::string, std::string> row;
    for (size_t i = 0; !rest.empty(); ++i) {
      const std::string cell(next_field(rest, ','));
      if (rows.empty() && names.size() <= i) names.push_back(cell);
      if (i < names.size()) row[names[i]] = cell;
    }
    rows.push_back(std::move(row));
  }
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

double number(const std::map<std::string, std::string>& row, const std::string& column) {
  return parse_double(row.at(column)).value_or(NAN);
}

double work_of(const Inspection& found, std::initializer_list<std::string_view> types) {
  double macs = 0;
  for (const auto& one : found.operators) {
    if (std::find(types.begin(), types.end(), one.type) != types.end()) macs += one.cost.macs;
  }
  return macs;
}

/// Elements of stored tensors that say how or where, and are no weights: all whole numbers but
/// those of quantized operators, and real ones in places of shapes.
double shape_elements(const fs::path& file) {
  const auto mapped = MappedFile::open(file);
  const auto model = scan(mapped->bytes(), file);
  const auto traced = trace(*model, {});
  double elements = 0;
  for (const auto& value : traced->values) {
    const bool whole = value.tensor != nullptr && !is_real(value.known.type);
    if (whole && value.known.type != kInt8 && value.known.type != kUint8)
      elements += value.tensor->elements();
  }
  return elements;
}

TEST(Files, macs_and_weights_are_those_of_the_reference) {
  const fs::path folder = data_folder() / "onnx";
  const auto rows = reference_rows(folder / "reference_counts.csv");
  if (rows.empty()) GTEST_SKIP() << "no models in " << folder;
  for (const auto& row : rows) {
    const auto found = inspect(folder / row.at("file"), {});
    ASSERT_TRUE(found) << found.error().message;
    if (number(row, "mac_nodes_unknown_shape") == 0 && number(row, "macs_conv_gemm_matmul") > 0) {
      EXPECT_EQ(work_of(*found, {"Conv", "Gemm", "MatMul"}), number(row, "macs_conv_gemm_matmul"))
          << row.at("file");
    }
    const double stored = number(row, "initializer_elems") + number(row, "constant_elems") +
                          number(row, "constantofshape_weight_elems");
    const double expected = row.at("file").find("_qdq") != std::string::npos
                                ? stored
                                : stored - shape_elements(folder / row.at("file"));
    EXPECT_EQ(found->counts.total_parameters, expected) << row.at("file");
  }
}

}  // namespace
}  // namespace assay::model
