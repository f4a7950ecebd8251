// SPDX-License-Identifier: Apache-2.0
#include "count_work.h"
#include "family.h"

#include <gtest/gtest.h>

// What is published about well-known networks: trained parameters, and multiplications with
// additions in billions at the resolution named (0: not published to three digits).
//
// [1] torchvision's documentation of its weights (num_params and GFLOPS, which counts a
//     multiplication and its addition as one)
// [2] MobileNets (arXiv 1704.04861), tables 4 and 8
// [3] tensorflow/tpu, models/official/efficientnet/lite, table of checkpoints; timm for the
//     parameters of lite0 (its operations count more than convolutions and layers)
// [4] timm, results/model_metadata-in1k.csv
// [5] google-research/bert for the parameters; MobileBERT (arXiv 2004.02984), table 4: 22.5 billion
//     operations for 128 positions
// [6] ultralytics/yolov5, table of checkpoints: GFLOPs there are two per multiplication
// [7] YOLOv3's page: 5.56 billion operations for the tiny one at 416
// [8] milesial/Pytorch-UNet with transposed convolutions
namespace assay::zoo {
namespace {

struct Published {
  const char* model;
  int64_t resolution;  ///< 0: the variant's own
  double parameters;
  double gmacs;
};

class PublishedFigures : public ::testing::TestWithParam<Published> {};

TEST_P(PublishedFigures, agree_within_one_percent) {
  const Published& published = GetParam();
  Recipe recipe;
  recipe.family = published.model;
  if (published.resolution != 0) recipe.resolution = published.resolution;
  const auto graph = build(plan_of(recipe).value());
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_NEAR(static_cast<double>(graph->parameters()) / published.parameters, 1, 0.01);
  if (published.gmacs == 0) return;
  EXPECT_NEAR(static_cast<double>(count_macs(*graph)) / 1e9 / published.gmacs, 1, 0.01);
}

// Inception is documented with the second classifier that only training uses.
constexpr double kSecondClassifier = 3'326'696;

INSTANTIATE_TEST_SUITE_P(
    zoo, PublishedFigures,
    ::testing::Values(Published{"resnet18", 0, 11'689'512, 1.814},                          // [1]
                      Published{"resnet34", 0, 21'797'672, 3.664},                          // [1]
                      Published{"resnet50", 0, 25'557'032, 4.089},                          // [1]
                      Published{"resnet101", 0, 44'549'160, 7.801},                         // [1]
                      Published{"resnet152", 0, 60'192'808, 11.514},                        // [1]
                      Published{"mobilenet-v1", 0, 4.2e6, 0.569},                           // [2]
                      Published{"mobilenet-v2", 0, 3'504'872, 0.301},                       // [1]
                      Published{"mobilenet-v3-large", 0, 5'483'032, 0.217},                 // [1]
                      Published{"mobilenet-v3-small", 0, 2'542'856, 0.057},                 // [1]
                      Published{"vgg11", 0, 132'863'336, 7.609},                            // [1]
                      Published{"vgg13", 0, 133'047'848, 11.308},                           // [1]
                      Published{"vgg16", 0, 138'357'544, 15.47},                            // [1]
                      Published{"vgg19", 0, 143'667'240, 19.632},                           // [1]
                      Published{"alexnet", 0, 61'100'840, 0.714},                           // [1]
                      Published{"squeezenet1.0", 0, 1'248'424, 0.819},                      // [1]
                      Published{"squeezenet1.1", 0, 1'235'496, 0.349},                      // [1]
                      Published{"densenet121", 0, 7'978'856, 2.834},                        // [1]
                      Published{"densenet169", 0, 14'149'480, 3.36},                        // [1]
                      Published{"densenet201", 0, 20'013'928, 4.291},                       // [1]
                      Published{"efficientnet-b0", 0, 5'288'548, 0.386},                    // [1]
                      Published{"efficientnet-b1", 0, 7'794'184, 0.687},                    // [1]
                      Published{"efficientnet-b2", 288, 9'109'994, 1.088},                  // [1]
                      Published{"efficientnet-b3", 0, 12'233'232, 1.827},                   // [1]
                      Published{"efficientnet-b4", 0, 19'341'616, 4.394},                   // [1]
                      Published{"efficientnet-b5", 0, 30'389'784, 10.266},                  // [1]
                      Published{"efficientnet-b6", 0, 43'040'704, 19.068},                  // [1]
                      Published{"efficientnet-b7", 0, 66'347'960, 37.746},                  // [1]
                      Published{"efficientnet-lite0", 0, 4'652'008, 0},                     // [3]
                      Published{"efficientnet-lite4", 0, 13.0e6, 0},                        // [3]
                      Published{"shufflenet0.5", 0, 1'366'792, 0},                          // [1]
                      Published{"shufflenet1.0", 0, 2'278'604, 0.145},                      // [1]
                      Published{"shufflenet1.5", 0, 3'503'624, 0.296},                      // [1]
                      Published{"shufflenet2.0", 0, 7'393'996, 0.583},                      // [1]
                      Published{"inception-v3", 0, 27'161'264 - kSecondClassifier, 5.713},  // [1]
                      Published{"googlenet", 0, 6'624'904, 1.498},                          // [1]
                      Published{"vit-ti", 0, 5.72e6, 1.26},                                 // [4]
                      Published{"vit-s", 0, 22.05e6, 4.61},                                 // [4]
                      Published{"vit-b", 0, 86'567'656, 17.564},                            // [1]
                      Published{"bert-base", 0, 110e6, 11.25},                              // [5]
                      Published{"yolo-v5s", 0, 7.2e6, 8.25},                                // [6]
                      Published{"yolo-v5m", 0, 21.2e6, 24.5},                               // [6]
                      Published{"yolo-v3-tiny", 0, 8.86e6, 2.78},                           // [7]
                      Published{"unet", 0, 31'037'698, 0}),                                 // [8]
    [](const auto& instance) {
      std::string name = instance.param.model;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
      return name;
    });

}  // namespace
}  // namespace assay::zoo
