// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <assay/predict/predictor.h>
#include <assay/predict/train.h>

/// A model file, and what is told by one that was taken: each time has to be one.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto predictor = predict::Predictor::parse("model.json", text);
  if (!predictor) return 0;
  model::Characteristics model;
  model.precision = "float32";
  model.workload.macs_conv3x3 = 1e8;
  model.workload.operators = 50;
  model.counts.conv_layers = 66'666'666;
  model.counts.total_parameters = 1e19;
  std::vector<predict::Asked> asked;
  for (size_t task = 0; task < predictor->tasks().size(); ++task) asked.push_back({task, 0.5});
  for (const auto& all : {predictor->tell(model, asked), predictor->tell(model.counts, asked)})
    for (const auto& one : all)
      if (one.task >= predictor->tasks().size() || !(one.seconds > 0) ||
          !std::isfinite(one.seconds))
        std::abort();
  (void)predict::read_older("model.json", text);
  return 0;
}
