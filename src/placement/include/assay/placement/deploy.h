// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/model/workload.h>

namespace assay::placement {

/// A worker that is to be started: a container that serves one model. docs/placement.md has the
/// contract between it and us.
struct WorkerPlan {
  std::string name;            ///< nothing else has it
  std::string model;           ///< its name, for people and in the label
  std::filesystem::path file;  ///< the ONNX file
  std::string image;           ///< of the user's choice
  std::string node;            ///< where it goes
  std::map<std::string, std::string> env;
  double memory_bytes = 0;  ///< that the model needs; 0: not known
};
/// The most that a worker may take: what its model needs, with room for engines that hold weights
/// in several forms. 0: no limit.
uint64_t memory_limit(const WorkerPlan& plan);
/// `name`: of the model. `threads`: of the engine; 0: as many as the engine likes.
WorkerPlan worker_plan(const std::string& name, const std::filesystem::path& file,
                       const model::Characteristics& model, int threads);
/// "assay-resnet50-3fa2c1": what names may hold, and not longer than Kubernetes likes.
std::string worker_name(const std::string& model);

inline constexpr int kWorkerPort = 7010;
/// On all that is started, so that nothing else is ever ended.
inline constexpr const char* kWorkerLabel = "assay.placement";
/// The node that it was started for.
inline constexpr const char* kNodeLabel = "assay.placement.node";

/// Where a worker is started: the Docker of a node, or a Kubernetes cluster. One worker each; used
/// from one thread.
class WorkerHost {
 public:
  virtual ~WorkerHost() = default;
  /// Where this fails, nothing of it stays.
  virtual Result<void> start(const WorkerPlan& plan) = 0;
  /// Whether it serves already. An error says why it never will, or, where it is temporary, why
  /// that cannot be told now.
  virtual Result<bool> serves() = 0;
  /// What it answers to this body at /run.
  virtual Result<std::string> run(const std::string& body, Milliseconds patience) = 0;
  /// What it serves at, for people.
  virtual std::string address() const = 0;
  /// Ends and removes what start() made, and nothing else.
  virtual Result<void> end() = 0;
};

/// What a worker measured.
struct WorkerTimes {
  std::string engine;  ///< empty: it does not say
  std::string version;
  std::vector<double> seconds;  ///< of each inference
};
Result<WorkerTimes> parse_worker_times(std::string_view answer);

struct Deployed {
  WorkerTimes times;  ///< sorted
  Timestamp start;
  Timestamp end;

  double median() const;
};

struct DeployListener {
  std::function<void(const std::string& what)> doing;
  std::function<bool()> wanted;    ///< asked several times a second; false gives up
  Milliseconds patience{120'000};  ///< until it serves
};

/// Starts the worker, waits until it serves, warms it up and measures it. It goes on running; where
/// this fails, or is given up, it is ended again.
Result<Deployed> deploy(WorkerHost& host, const WorkerPlan& plan, const DeployListener& listener);

}  // namespace assay::placement
