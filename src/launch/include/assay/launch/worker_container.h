// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::launch {

/// A container that serves beside whatever else runs there, until somebody ends it.
struct WorkerContainer {
  std::string name;
  std::string image;  ///< fetched where the daemon does not have it
  std::map<std::string, std::string> env;
  std::map<std::string, std::string> labels;
  std::filesystem::path file;  ///< copied into it ...
  std::string folder;          ///< ... to this folder, which is a volume of its own ...
  std::string file_name;       ///< ... under this name
  int port = 0;                ///< that it listens at
  uint64_t memory_bytes = 0;   ///< the most that it may take; 0: no limit
};

struct WorkerState {
  bool running = false;
  std::string address = {};  ///< where its port is reached, "127.0.0.1:32768"; empty: not yet
  std::string ended = {};    ///< how, where it does not run: "ended with 1"
};

/// One that was started before.
struct ListedWorker {
  std::string name;
  std::map<std::string, std::string> labels;
  std::string status;  ///< "running", "exited"
  std::optional<Timestamp> created;
};

/// The daemon of containers of one node. Used from one thread.
class WorkerDaemon {
 public:
  /// "unix:///run/docker.sock" or "tcp://10.0.0.7:2376"; empty: $DOCKER_HOST, else this machine's.
  /// `wanted` is asked several times a second while the daemon is waited for; false ends a call,
  /// unless it removes something.
  static Result<WorkerDaemon> open(const std::string& host, std::function<bool()> wanted);
  WorkerDaemon(WorkerDaemon&&) noexcept;
  WorkerDaemon& operator=(WorkerDaemon&&) noexcept;
  ~WorkerDaemon();

  /// Makes and starts it: with no rights, nothing to write to but /tmp and its folder, its port
  /// published on loopback, or on the daemon's own address where that is another machine. It is not
  /// started again when it ends. Returns its id. Where this fails, nothing of it stays.
  Result<std::string> start(const WorkerContainer& worker);
  Result<WorkerState> state(const std::string& id, int port);
  /// What it wrote last, in one line; empty: nothing.
  std::string last_words(const std::string& id);
  /// Also one that runs, with its volume. One that is gone already is fine.
  Result<void> remove(const std::string& id);
  /// The id of the container of that name; an error when there is none that has the label.
  Result<std::string> find(const std::string& name, const std::string& label);
  /// All that have the label, running or not.
  Result<std::vector<ListedWorker>> list(const std::string& label);

 private:
  struct State;
  explicit WorkerDaemon(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace assay::launch
