// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::infer {

struct Tensor {
  std::string name = {};
  std::string type = {};  ///< "float32", "int64"
  std::vector<int64_t> shape = {};

  bool operator==(const Tensor&) const = default;
};

struct LoadRequest {
  std::filesystem::path file = {};
  int threads = 0;                                          ///< 0: as many as the engine likes
  std::map<std::string, std::vector<int64_t>> shapes = {};  ///< of inputs that the file leaves open
  bool gpu = false;                                         ///< compute on it, or refuse
};

struct Loaded {
  double seconds = 0;
  std::vector<Tensor> inputs = {};
  std::vector<Tensor> outputs = {};
};

struct RunRequest {
  int count = 1;
  double seconds = 10;    ///< no further one begins after so long ...
  double patience = 120;  ///< ... and all have to be over so much later
  uint64_t seed = 1;      ///< of random inputs
  /// Float values of the first input, as bytes; empty: random ones.
  std::filesystem::path input = {};
  /// Where the values of the last run's outputs go as float32, one after the other; empty: nowhere.
  std::filesystem::path output = {};
};

/// What an engine says that one of a model's operators takes.
struct OperatorTime {
  std::string name = {};  ///< of its node, mostly with more behind it where operators were merged
  double seconds = 0;     ///< the median of all runs
};
struct EngineProfile {
  std::vector<OperatorTime> operators = {};  ///< in the order in which they run
  double seconds = 0;                        ///< that a whole run took meanwhile, the median
};

/// An engine that runs models, in a process of its own: what it crashes is not us. It is told what
/// to do by lines of JSON; docs/engines.md has them. Used from the thread that starts it.
class Engine {
 public:
  /// Starts the program and waits until it says what it is.
  static Result<Engine> start(const std::vector<std::string>& command);
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;
  ~Engine();

  const std::string& name() const;
  const std::string& version() const;
  pid_t pid() const;  ///< 0: it has ended
  /// From now on, asked several times a second while an answer is awaited; false gives up.
  void while_wanted(std::function<bool()> wanted);

  /// In place of what was loaded before. An error says what the engine does not like.
  Result<Loaded> load(const LoadRequest& request);
  /// Seconds of each run of what is loaded, at least of one. No answer in time is an error that is
  /// temporary; the engine is of no more use then.
  Result<std::vector<double>> run(const RunRequest& request);
  /// What each operator of what is loaded takes. An error from engines that cannot tell.
  Result<EngineProfile> profile(const RunRequest& request);

 private:
  class Process;
  explicit Engine(std::unique_ptr<Process> process);

  std::unique_ptr<Process> process_;
  std::string name_;
  std::string version_;
};

}  // namespace assay::infer
