// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "net.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/zoo/zoo.h>

namespace assay::zoo {

/// A recipe with all that it left open filled in, as the families read it.
struct Plan {
  std::string name;
  std::string variant;
  int64_t resolution = 0;
  int64_t classes = 0;
  Recipe recipe;

  /// Scaled by the width and rounded to a multiple of 8, as mobile networks do.
  int64_t channels(int64_t published) const;
  /// Scaled by the depth, at least 1.
  int64_t repeats(int64_t published) const;
  int64_t batch() const { return recipe.batch; }
};

/// `scaled` as the nearest multiple of 8 that is not far below it.
int64_t divisible(double scaled);

struct Variant {
  std::string_view name;
  int64_t resolution;
  int64_t classes;
};

struct Family {
  std::string_view name;
  std::string_view about;
  std::vector<Variant> variants;
  std::vector<std::string_view> options;
  void (*build)(Net& net, const Plan& plan);
};

const std::vector<Family>& all_families();

/// The recipe checked against what its family takes.
Result<Plan> plan_of(const Recipe& recipe);
Result<Graph> build(const Plan& plan);

/// The input that all image models have.
Tensor image(Net& net, const Plan& plan);

void alexnet(Net& net, const Plan& plan);
void bert(Net& net, const Plan& plan);
void densenet(Net& net, const Plan& plan);
void efficientnet(Net& net, const Plan& plan);
void inception(Net& net, const Plan& plan);
void lstm(Net& net, const Plan& plan);
void mixed(Net& net, const Plan& plan);
void mobilenet(Net& net, const Plan& plan);
void mobilenet_v3(Net& net, const Plan& plan);
void nasbench201(Net& net, const Plan& plan);
void resnet(Net& net, const Plan& plan);
void shufflenet(Net& net, const Plan& plan);
void squeezenet(Net& net, const Plan& plan);
void unet(Net& net, const Plan& plan);
void vgg(Net& net, const Plan& plan);
void vit(Net& net, const Plan& plan);
void yolo(Net& net, const Plan& plan);

}  // namespace assay::zoo
