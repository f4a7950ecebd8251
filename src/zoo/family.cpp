// SPDX-License-Identifier: Apache-2.0
#include "family.h"

#include <algorithm>
#include <cmath>

namespace assay::zoo {

int64_t divisible(double scaled) {
  constexpr int64_t kStep = 8;
  const auto nearest = static_cast<int64_t>(scaled + (kStep / 2.0)) / kStep * kStep;
  const int64_t rounded = std::max(kStep, nearest);
  return static_cast<double>(rounded) < 0.9 * scaled ? rounded + kStep : rounded;
}

int64_t Plan::channels(int64_t published) const {
  if (recipe.width == 1) return published;
  return divisible(static_cast<double>(published) * recipe.width);
}

int64_t Plan::repeats(int64_t published) const {
  return std::max<int64_t>(1, std::llround(static_cast<double>(published) * recipe.depth));
}

Tensor image(Net& net, const Plan& plan) {
  return net.graph().input("image", {plan.batch(), 3, plan.resolution, plan.resolution});
}

const std::vector<Family>& all_families() {
  static const std::vector<Family> kFamilies{
      {"alexnet",
       "five convolutions and three large layers",
       {{"2012", 224, 1000}},
       {"resolution"},
       alexnet},
      {"bert",
       "transformer encoder of text",
       {{"tiny", 0, 0},
        {"mini", 0, 0},
        {"small", 0, 0},
        {"medium", 0, 0},
        {"base", 0, 0},
        {"large", 0, 0}},
       {"layers", "hidden", "heads", "sequence"},
       bert},
      {"densenet",
       "every layer sees all before it",
       {{"121", 224, 1000}, {"169", 224, 1000}, {"201", 224, 1000}},
       {"resolution"},
       densenet},
      {"efficientnet",
       "gated mobile blocks, scaled in all directions; lite: without gates",
       {{"b0", 224, 1000},
        {"b1", 240, 1000},
        {"b2", 260, 1000},
        {"b3", 300, 1000},
        {"b4", 380, 1000},
        {"b5", 456, 1000},
        {"b6", 528, 1000},
        {"b7", 600, 1000},
        {"lite0", 224, 1000},
        {"lite1", 240, 1000},
        {"lite2", 260, 1000},
        {"lite3", 280, 1000},
        {"lite4", 300, 1000}},
       {"resolution"},
       efficientnet},
      {"inception",
       "branches side by side",
       {{"v3", 299, 1000}, {"googlenet", 224, 1000}},
       {"resolution"},
       inception},
      {"lstm",
       "recurrent layers over a sequence",
       {{"small", 0, 10}, {"medium", 0, 10}, {"large", 0, 10}},
       {"layers", "hidden", "sequence", "bidirectional"},
       lstm},
      {"mixed",
       "blocks of all kinds as the seed draws them: no published model",
       {{"convs", 128, 100}, {"steps", 0, 10}, {"tokens", 0, 10}},
       {"resolution", "sequence", "hidden"},
       mixed},
      {"mobilenet",
       "depthwise convolutions",
       {{"v2", 224, 1000}, {"v1", 224, 1000}, {"v3-small", 224, 1000}, {"v3-large", 224, 1000}},
       {"resolution"},
       mobilenet},
      {"nasbench201",
       "cells of NAS-Bench-201 by their architecture strings",
       {{"cifar10", 32, 10}},
       {"resolution", "cell"},
       nasbench201},
      {"resnet",
       "blocks that are added to what they got",
       {{"50", 224, 1000},
        {"18", 224, 1000},
        {"34", 224, 1000},
        {"101", 224, 1000},
        {"152", 224, 1000}},
       {"resolution"},
       resnet},
      {"shufflenet",
       "version 2: halves of the channels, shuffled",
       {{"1.0", 224, 1000}, {"0.5", 224, 1000}, {"1.5", 224, 1000}, {"2.0", 224, 1000}},
       {"resolution"},
       shufflenet},
      {"squeezenet",
       "few channels, then many",
       {{"1.1", 224, 1000}, {"1.0", 224, 1000}},
       {"resolution"},
       squeezenet},
      {"unet", "marks every pixel of an image", {{"2015", 256, 2}}, {"resolution"}, unet},
      {"vgg",
       "plain convolutions and three large layers",
       {{"16", 224, 1000}, {"11", 224, 1000}, {"13", 224, 1000}, {"19", 224, 1000}},
       {"resolution"},
       vgg},
      {"vit",
       "transformer of image patches of 16 x 16",
       {{"ti", 224, 1000}, {"s", 224, 1000}, {"b", 224, 1000}},
       {"resolution", "layers", "hidden", "heads"},
       vit},
      {"yolo",
       "finds boxes at two or three scales",
       {{"v5s", 640, 80}, {"v5n", 640, 80}, {"v5m", 640, 80}, {"v3-tiny", 416, 80}},
       {"resolution"},
       yolo},
  };
  return kFamilies;
}

}  // namespace assay::zoo
