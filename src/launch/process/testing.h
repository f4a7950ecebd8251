// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <assay/launch/launcher.h>

namespace assay::launch::testing {

/// A folder that is gone at the end of the test.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();
  const std::filesystem::path& path() const { return path_; }
  /// Writes a file, with the folders above it.
  void write(const std::string& name, const std::string& content) const;
  std::string read(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

/// A request for `/bin/sh -c script` whose output goes to "out" and "err" in the folder.
Request shell(const TempFolder& folder, const std::string& script, int run = 1);
/// Starts it and lets it begin.
Result<std::unique_ptr<RunningApp>> launched(const Request& request,
                                             const SysRoot& root = SysRoot());
/// The same; fails the test when that does not work.
std::unique_ptr<RunningApp> start(const Request& request);

/// Waits until the descriptor is readable; false after the time a test may take.
bool wait_readable(int fd, int milliseconds = 20'000);
/// Waits for the app's end.
Exit wait_exit(RunningApp& app);
/// Waits for the process to be gone, reaped or not.
bool wait_gone(pid_t pid);
/// Opens the far end of a fifo that the app writes to, and reads its first line: the event to wait
/// for.
std::string read_line_from_fifo(const std::filesystem::path& fifo);
void make_fifo(const std::filesystem::path& fifo);

bool is_running(pid_t pid);
pid_t to_pid(const std::string& text);

/// True where control groups can be made here; tests that need one are skipped otherwise.
bool can_make_groups();

/// Runs this executable as another `assay` that starts the script and then waits. Returns its pid
/// when the app's fifo "ready" has been read; what was read is put into `line`.
pid_t spawn_owner(const TempFolder& folder, const std::string& script, std::string& line);
/// Kills it and its whole process group with SIGKILL, and reaps it.
void kill_owner(pid_t owner);
/// The folders of our own groups that a process is in.
std::vector<std::string> own_group_folders(pid_t pid);
/// The body of that process.
int owner_main(const std::string& folder, const std::string& script);
/// The body of an app that survives SIGINT and SIGTERM and writes each one's number into the fifo.
int tell_signals_main(const std::string& fifo);

}  // namespace assay::launch::testing
