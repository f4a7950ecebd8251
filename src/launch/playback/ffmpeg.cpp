// SPDX-License-Identifier: Apache-2.0
#include "playback/ffmpeg.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/base/spawn_actions.h>
#include <assay/base/text.h>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kErrors = "ffmpeg-errors.txt";
constexpr int kStopCheckMilliseconds = 100;

struct Attributes {
  Attributes() { ::posix_spawnattr_init(&value); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { ::posix_spawnattr_destroy(&value); }
  posix_spawnattr_t value{};
};

/// In a group of its own: a Ctrl-C is for us, who then stop it.
void isolate(Attributes& attributes) {
  sigset_t signals;
  sigemptyset(&signals);
  ::posix_spawnattr_setsigmask(&attributes.value, &signals);
  sigfillset(&signals);
  ::posix_spawnattr_setsigdefault(&attributes.value, &signals);
  ::posix_spawnattr_setpgroup(&attributes.value, 0);
  ::posix_spawnattr_setflags(
      &attributes.value, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

Result<pid_t> spawn(const std::vector<std::string>& words, const fs::path& folder, int output) {
  SpawnActions actions;
  ::posix_spawn_file_actions_addchdir_np(&actions.value, folder.c_str());
  ::posix_spawn_file_actions_addopen(&actions.value, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions.value, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions.value, STDERR_FILENO, kErrors,
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  Attributes attributes;
  isolate(attributes);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, words.front().c_str(), &actions.value, &attributes.value,
                                   arguments.data(), environ);
  if (error != 0) return refused_errno("cannot start ffmpeg", error);
  return pid;
}

/// The number of the last whole line "frame=12" in the text.
void tell_progress(std::string& text, const std::function<void(uint64_t)>& progress) {
  const size_t end = text.rfind('\n');
  if (end == std::string::npos) return;
  std::string_view lines(text.data(), end);
  while (!lines.empty()) {
    const std::string_view line = next_field(lines, '\n');
    if (!line.starts_with("frame=") || !progress) continue;
    if (const auto frames = parse_uint(trim(line.substr(6)))) progress(*frames);
  }
  text.erase(0, end + 1);
}

/// Reads what it tells until it ends; false when a stop was asked for.
bool follow(int output, const std::stop_token& stop,
            const std::function<void(uint64_t)>& progress) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (!stop.stop_requested()) {
    pollfd ready{output, POLLIN, 0};
    if (::poll(&ready, 1, kStopCheckMilliseconds) <= 0) continue;
    const ssize_t n = ::read(output, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    text.append(buffer.data(), static_cast<size_t>(n));
    tell_progress(text, progress);
  }
  return false;
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// The last line it said is mostly the one that explains.
std::string last_words(const fs::path& folder) {
  const std::string all = read_file(folder / kErrors, 1U << 20U).value_or("");
  const std::string_view text = trim(all);
  const size_t line = text.rfind('\n');
  return std::string(text.substr(line == std::string_view::npos ? 0 : line + 1).substr(0, 300));
}

}  // namespace

Result<void> find_ffmpeg() {
  const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
  if (is_in_path("ffmpeg", path == nullptr ? "" : path)) return {};
  return refused(
      "videos, sounds and pictures other than JPEG and WAV are converted by ffmpeg, "
      "which is not installed; sudo apt install ffmpeg");
}

Result<void> run_ffmpeg(const std::vector<std::string>& arguments, const fs::path& folder,
                        const std::stop_token& stop,
                        const std::function<void(uint64_t)>& progress) {
  ASSAY_CHECK(find_ffmpeg());
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return refused_errno("cannot make a pipe", errno);
  const Fd output(ends[0]);
  Fd input(ends[1]);
  std::vector<std::string> words = {"ffmpeg",   "-nostdin",  "-v",    "error",
                                    "-nostats", "-progress", "pipe:1"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  ASSAY_TRY(const pid_t pid, spawn(words, folder, input.get()));
  input.reset();
  if (!follow(output.get(), stop, progress)) {
    ::kill(pid, SIGKILL);
    wait_for(pid);
    return refused("stopped while converting the dataset for playback");
  }
  const int status = wait_for(pid);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    std::error_code ignored;
    fs::remove(folder / kErrors, ignored);
    return {};
  }
  return refused(fmt::format("ffmpeg failed: {}", last_words(folder)));
}

}  // namespace assay::launch
