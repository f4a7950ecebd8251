// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "background.h"
#include "image_input.h"
#include "load_meter.h"
#include "node_meter.h"
#include "row.h"

#include <optional>

#include <assay/collect/collect.h>
#include <assay/infer/engine.h>
#include <assay/samples/records.h>

namespace assay::collect {

/// Times what an engine has loaded, under a background, beside meters of the machine.
class Measurer {
 public:
  static Result<Measurer> make(const Options& options, const Device& device,
                               const std::function<bool()>& wanted);

  /// Files of the images' folder that are none.
  std::vector<std::string> bad_images() const {
    return images_ ? images_->bad() : std::vector<std::string>();
  }

  /// Fills in what was measured. What the engine refuses is told in the row; an error is what keeps
  /// any model from being measured, and an interruption.
  Result<void> measure(infer::Engine& engine, const Background& background,
                       const std::optional<ImageShape>& image, Row& row,
                       const std::function<bool()>& wanted);

 private:
  Measurer(const Options& options, const Device& device, std::optional<ImageInputs> images);
  Result<std::vector<double>> time(infer::Engine& engine, const infer::RunRequest& request,
                                   Row& row);

  const Options& options_;
  std::optional<ImageInputs> images_;
  std::unique_ptr<LoadMeter> load_;
  std::unique_ptr<NodeMeter> node_;
  SystemClock clock_;
};

}  // namespace assay::collect
