// SPDX-License-Identifier: Apache-2.0
#include "small_models.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

// Writes a small model of every variant into a folder, and prints "FILE:SHAPE" of each, with its
// family in front: for the programs that run them.
int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path folder = argv[1];
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const auto& recipe : assay::zoo::small_models()) {
    const auto name = assay::zoo::model_name(recipe).value_or("unnamed");
    const auto made = assay::zoo::make_model(recipe, folder / (name + ".onnx"));
    if (!made) return std::fprintf(stderr, "%s\n", made.error().message.c_str()), 1;
    const auto& input = made->inputs.front();
    std::printf("%s %s:%s\n", recipe.family.c_str(), made->file.c_str(),
                input.substr(input.find(' ') + 1).c_str());
  }
  return 0;
}
