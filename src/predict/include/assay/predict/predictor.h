// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/model/workload.h>
#include <assay/predict/device.h>

namespace assay::predict {

/// What times were learned for.
struct Task {
  std::string device;  ///< name of one of Predictor::devices()
  std::string engine;
  std::string precision;
  double threads = 0;  ///< that the engine had; 0: not known, or as many as there are cores

  bool operator==(const Task&) const = default;
};

/// A question for the time of one inference.
struct Asked {
  size_t task = 0;  ///< of Predictor::tasks()
  double load = 0;  ///< the share of its device's cores that other work keeps busy, 0 to 1
};

/// What is told of it.
struct Estimate {
  size_t asked = 0;  ///< which of the questions it answers
  size_t task = 0;   ///< of Predictor::tasks()
  double seconds = 0;
  double low = 0;  ///< four of five times lie between low and high
  double high = 0;
  double joules = 0;  ///< at the power that was measured there; 0: none was
  /// Why there is more doubt than the interval says, in words: the model is far outside of what was
  /// learned from. Empty: it is not.
  std::string doubt;
};

/// Tells times by what `assay train` has learned. Reads no file after it is made; thread-safe.
class Predictor {
 public:
  /// The contents of a model file; `name` is for messages. docs/model-file.md has its form.
  static Result<Predictor> parse(const std::string& name, std::string_view text);
  static Result<Predictor> read(const std::filesystem::path& file);
  Predictor(Predictor&&) noexcept;
  Predictor& operator=(Predictor&&) noexcept;
  ~Predictor();

  /// The same, and it tells also devices that were calibrated after it was learned: what they take
  /// follows from what others take, by what both were measured to reach. Those it knows by name
  /// take their newer figures. Its tasks come first, in the same order.
  Predictor with(std::span<const Device> devices) const;

  const std::vector<Device>& devices() const;
  const std::vector<Task>& tasks() const;

  /// The tasks of one of the devices.
  std::span<const size_t> tasks_of(size_t device) const;

  /// In the order of the questions, for those about a task of the model's precision, or for all
  /// where no task has it (and then with doubt), and whose engine has not refused the model. Many
  /// at once take far less than one by one.
  std::vector<Estimate> tell(const model::Characteristics& model,
                             std::span<const Asked> asked) const;
  /// What the engine of a task said when it refused that very model; empty when it did not.
  std::string refusal(const model::Characteristics& model, size_t task) const;
  /// For each task, by the old counts alone.
  std::vector<Estimate> tell(const model::Counts& counts, std::span<const Asked> asked) const;

 private:
  struct State;
  explicit Predictor(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

}  // namespace assay::predict
