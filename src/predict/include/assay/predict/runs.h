// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/model/workload.h>
#include <assay/predict/device.h>
#include <assay/predict/mapping.h>
#include <assay/predict/predictor.h>
#include <assay/predict/profile.h>
#include <assay/predict/table.h>

namespace assay::predict {

/// A model that was run, as the table of measurements tells.
struct RunModel {
  std::string name;
  std::string family;  ///< of architectures; those of one are never on both sides of a validation
  model::Counts counts;
  std::optional<model::Workload> workload;  ///< tables that others made may not have it
};

/// Of "mobilenet-v2_r96" mobilenet, of "resnet18_w0.5" resnet: what stands before '-', '_' and the
/// number of the variant. Each of those that `assay model make` calls mixed is a family of its own.
std::string family_of(const std::string& model);

/// One measurement: a model on a task's device beside other work.
struct Run {
  size_t model = 0;
  size_t task = 0;
  double load = 0;     ///< share of the device's cores that other work kept busy, 0 to 1
  double threads = 0;  ///< of the engine; 0: not known
  double seconds = 0;
  bool outlier = false;
  double joules = 0;  ///< of one inference; 0: not measured

  bool operator==(const Run&) const = default;
};

/// What the pieces of a model took on a task's device.
struct ModelProfile {
  size_t model = 0;
  size_t task = 0;
  double threads = 0;  ///< of the engine; 0: not known
  Profile profile;

  bool operator==(const ModelProfile&) const = default;
};

/// What an engine did not run.
struct Refusal {
  std::string model;
  Task task;
  std::string error;
  std::vector<double> numbers = {};  ///< of the model, as column_values(); empty: it has none
};

/// All that is learned from.
struct Runs {
  std::vector<Device> devices;
  std::vector<Task> tasks;
  std::vector<RunModel> models;
  std::vector<Run> runs;
  std::vector<Refusal> refused;
  std::vector<ModelProfile> profiles =
      {};  ///< where engines tell; several of one are of other times
};

/// Reads a table as `assay collect` writes it (docs/training.md names the columns), or one that
/// others made by its mapping. Every wrong cell is named by file and line. `joined` is looked at
/// when the mapping joins. Runs beside other work whose load was not measured are left out.
Result<Runs> read_runs(const CsvSource& source, const Mapping* mapping = nullptr,
                       const CsvSource& joined = {});
/// Adds more measurements. What is there already is not added again; returns how many were new.
size_t add_runs(Runs& to, const Runs& more);
/// Puts a device's figures beside its measurements, or as one that has none.
void add_device(Runs& to, const Device& device);

}  // namespace assay::predict
