// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <assay/base/mutex.h>
#include <assay/base/result.h>
#include <assay/infer/engine.h>
#include <assay/net/http_server.h>

namespace assay::infer {

/// An engine in this process.
struct WorkerEngine {
  std::string name;
  std::string version;
  std::function<Result<Loaded>(const LoadRequest& request)> load;
  std::function<Result<std::vector<double>>(const RunRequest& request)> run;
};

/// A model that is served over HTTP; docs/placement.md has the contract of workers.
struct WorkerSettings {
  std::string listen = {};
  LoadRequest load = {};
  std::string url = {};  ///< where the model is fetched from, when there is no file
  std::string key = {};  ///< the bearer token that goes with it
};
/// By the variables of the environment that workers are given; `variable` is empty where one is not
/// set.
Result<WorkerSettings> worker_settings(
    const std::function<std::string(const char* variable)>& variable);

/// The answers of a worker whose model is loaded. One inference at a time; thread-safe.
class Worker {
 public:
  explicit Worker(WorkerEngine engine) : engine_(std::move(engine)) {}
  net::ServerResponse answer(const net::ServerRequest& request);

 private:
  net::ServerResponse run(const std::string& body);

  const WorkerEngine engine_;
  Mutex running_;
};

/// Fetches the model where it has to, loads it, and serves until SIGINT or SIGTERM. `tell` is given
/// the address once it serves.
Result<void> serve_worker(WorkerEngine engine, WorkerSettings settings,
                          const std::function<void(const std::string& sentence)>& tell);

/// The model at the address, in a new file of the folder, which the caller owns. An answer that is
/// not whole, empty or larger than kLargestModel is an error.
Result<std::filesystem::path> fetch_model(const std::string& url, const std::string& key,
                                          const std::filesystem::path& folder);
constexpr uint64_t kLargestModel = uint64_t{16} << 30U;

}  // namespace assay::infer
