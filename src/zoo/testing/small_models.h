// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <assay/zoo/zoo.h>

namespace assay::zoo {

/// Every variant of every family, narrow and at a small size, so that it is made and run quickly.
inline std::vector<Recipe> small_models() {
  std::vector<Recipe> recipes;
  for (const auto& family : families()) {
    for (const auto& variant : family.variants) {
      Recipe recipe;
      recipe.family = family.name;
      recipe.variant = variant;
      recipe.width = 0.15;
      const auto takes = [&](const char* option) {
        return std::find(family.options.begin(), family.options.end(), option) !=
               family.options.end();
      };
      const bool sees = variant != "steps" && variant != "tokens";
      if (takes("resolution") && sees) recipe.resolution = variant == "v3" ? 96 : 64;
      if (takes("sequence") && variant != "convs") recipe.sequence = 8;
      // OpenCV's Python takes three axes for an image unless the last is larger than this.
      if (takes("bidirectional") || variant == "steps") recipe.hidden = 520;
      if (takes("heads")) recipe.depth = 0.25;
      recipes.push_back(recipe);
    }
  }
  return recipes;
}

}  // namespace assay::zoo
