// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>

/// ONNX models made to measure: well-known families of neural networks of any size, with random
/// weights. The same recipe gives the same bytes, on every machine.
namespace assay::zoo {

/// What to make. What is left open is as published for the variant.
struct Recipe {
  std::string family;   ///< "resnet", or with the variant: "resnet50"
  std::string variant;  ///< "50"; the family's first when empty
  double width = 1;     ///< times the channels or features of every layer
  double depth = 1;     ///< times the blocks of every stage
  std::optional<int64_t> resolution;
  int64_t batch = 1;
  std::optional<int64_t> classes;
  std::optional<int64_t> layers;  ///< transformers and LSTM
  std::optional<int64_t> hidden;
  std::optional<int64_t> heads;
  std::optional<int64_t> sequence;
  bool bidirectional = false;
  std::string cell;  ///< NAS-Bench-201's architecture string
  uint64_t seed = 0;
};

/// A model that was written.
struct Made {
  std::filesystem::path file;
  std::string name;                 ///< "resnet50", "vit-s_w0.5"
  std::vector<std::string> inputs;  ///< "image 1x3x224x224"
  int64_t parameters = 0;           ///< trained ones, without the statistics of normalization
  int64_t bytes = 0;
};

struct FamilyInfo {
  std::string name;
  std::string about;
  std::vector<std::string> variants;  ///< the first is what a bare name means
  std::vector<std::string> options;   ///< beside width, depth, batch, classes and seed
};

std::vector<FamilyInfo> families();

/// "resnet50_w0.5_r160": what differs from the published variant is in the name.
Result<std::string> model_name(const Recipe& recipe);

/// Writes the model; an error says what is possible instead. Takes little memory for any size.
Result<Made> make_model(const Recipe& recipe, const std::filesystem::path& file);

/// Recipes of `count` models of all families, widths, depths and resolutions in turn, then as many
/// mixed ones, and again; each under 100 MB and 10 billion multiplications, for learning how fast a
/// device runs models. The same seed gives the same set, and a larger set begins with the smaller
/// one.
std::vector<Recipe> training_set(size_t count, uint64_t seed);

}  // namespace assay::zoo
