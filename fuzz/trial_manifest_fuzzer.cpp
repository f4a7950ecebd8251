// SPDX-License-Identifier: Apache-2.0
// A manifest comes from whoever wrote the job. Its copy must be JSON with what bounds a trial.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include <assay/cluster/trial_manifest.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto source = assay::cluster::read_trial_source(text, "job.yaml");
  if (!source) return 0;
  for (const double count : {1.0, 6.0}) {
    const auto copy = assay::cluster::make_trial_copy(
        *source, {"A100", count},
        {.trial = "t", .name_space = "n", .deadline = std::chrono::minutes(5)}, 1);
    if (!copy) continue;
    const auto json = nlohmann::json::parse(copy->manifest);
    const auto& metadata = json.at("metadata");
    if (metadata.at("labels").at("assay.trial") != "t") __builtin_trap();
    if (metadata.contains("uid") || json.contains("status")) __builtin_trap();
    if (copy->workers * copy->each != count || copy->pods < copy->workers) __builtin_trap();
  }
  return 0;
}
