// SPDX-License-Identifier: Apache-2.0
#include "login_program.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/base/pipe.h>
#include <assay/base/spawn_actions.h>
#include <assay/base/text.h>
#include <assay/base/wording.h>

namespace assay::kubeapi {
namespace {

using std::chrono::steady_clock;

constexpr size_t kMostOutput = 1U << 20U;
constexpr size_t kMostWords = 300;  ///< of its last ones
constexpr int kNap = 10;            ///< milliseconds, while its end is waited for
constexpr size_t kMostPieces = 64;  ///< that were on their way when it ended
constexpr Milliseconds kLookAgain{100};

/// For how long it is waited.
struct Patience {
  steady_clock::time_point until;
  const StillWanted& wanted;

  bool is_wanted() const { return !wanted || wanted(); }
  bool is_over() const { return steady_clock::now() >= until || !is_wanted(); }
  /// Until somebody has to be asked again.
  int pause() const {
    const auto left = std::chrono::ceil<Milliseconds>(until - steady_clock::now());
    return static_cast<int>(std::clamp(left, Milliseconds(0), kLookAgain).count());
  }
};

std::vector<std::string> environment_of(const LoginCommand& command, const std::string& exec_info) {
  auto added = command.environment;
  added["KUBERNETES_EXEC_INFO"] = exec_info;
  std::vector<std::string> all;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view text = *each;
    if (!added.contains(std::string(text.substr(0, text.find('='))))) all.emplace_back(text);
  }
  for (const auto& [name, value] : added) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (auto& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// A process of its own group, so that it can be ended with all that it started.
class Running {
 public:
  explicit Running(pid_t pid) : pid_(pid) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  /// Its status; nothing: it still runs.
  std::optional<int> status() {
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == 0) return std::nullopt;
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_;
};

Result<pid_t> start(const LoginCommand& command, const std::string& exec_info, const Pipe& out,
                    const Pipe& err) {
  std::vector<std::string> words = command.arguments;
  words.insert(words.begin(), command.program);
  auto environment = environment_of(command, exec_info);
  SpawnActions actions;
  ::posix_spawn_file_actions_addopen(&actions.value, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions.value, out.write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions.value, err.write.get(), STDERR_FILENO);
  posix_spawnattr_t attributes{};
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, command.program.c_str(), &actions.value, &attributes,
                                   pointers(words).data(), pointers(environment).data());
  ::posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  return refused(fmt::format("{}, by which the kubeconfig's user logs in, cannot be run: {}{}{}",
                             in_quotes(command.program), std::strerror(error),
                             command.hint.empty() ? "" : "; ", command.hint));
}

/// What it says, in two pipes.
class Speech {
 public:
  Speech(const Pipe& out, const Pipe& err)
      : pipes_{pollfd{out.read.get(), POLLIN, 0}, pollfd{err.read.get(), POLLIN, 0}} {}

  /// Takes what comes within so many milliseconds; whether there was something.
  bool take(int milliseconds) {
    if (::poll(pipes_.data(), pipes_.size(), milliseconds) <= 0) return false;
    const std::array<std::string*, 2> into = {&told, &words};
    for (size_t i = 0; i < pipes_.size(); ++i) {
      if (pipes_[i].fd < 0 || pipes_[i].revents == 0) continue;
      std::array<char, 4096> buffer{};
      const ssize_t size = ::read(pipes_[i].fd, buffer.data(), buffer.size());
      if (size <= 0) pipes_[i].fd = -1;
      if (size > 0) into[i]->append(buffer.data(), static_cast<size_t>(size));
    }
    if (words.size() > 4 * kMostWords) words.erase(0, words.size() - 2 * kMostWords);
    return true;
  }
  bool has_told_all() const { return pipes_[0].fd < 0; }
  bool is_too_much() const { return told.size() > kMostOutput; }

  std::string told = {};   ///< on standard output
  std::string words = {};  ///< the last ones on standard error

 private:
  std::array<pollfd, 2> pipes_;
};

/// Until it has told all and has ended; its status, or nothing: not in time, or it told too much.
/// What it leaves running may hold its standard error open for ever.
std::optional<int> listen(Speech& speech, Running& running, const Patience& patience) {
  while (!speech.is_too_much() && !patience.is_over()) {
    const auto status = speech.has_told_all() ? running.status() : std::nullopt;
    if (!status) {
      speech.take(speech.has_told_all() ? kNap : patience.pause());
      continue;
    }
    for (size_t i = 0; i < kMostPieces && speech.take(0); ++i) continue;
    return status;
  }
  return std::nullopt;
}

/// The end of what it said, where the reason mostly is, on one line.
std::string last_words(const std::string& words) {
  std::string_view text = trim(words);
  const bool cut = text.size() > kMostWords;
  if (cut) text.remove_prefix(text.size() - kMostWords);
  while (cut && !text.empty() && (static_cast<unsigned char>(text[0]) & 0xC0U) == 0x80U)
    text.remove_prefix(1);
  if (text.empty()) return "";
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    line += c == '\n' ? ' ' : byte < 0x20 || byte == 0x7F ? '?' : c;
  }
  return fmt::format(": '{}{}'", cut ? "…" : "", line);
}

}  // namespace

Result<std::string> run_login_program(const LoginCommand& command, const std::string& exec_info,
                                      const StillWanted& wanted) {
  ASSAY_TRY(Pipe out, make_pipe());
  ASSAY_TRY(Pipe err, make_pipe());
  ASSAY_TRY(const pid_t pid, start(command, exec_info, out, err));
  Running running(pid);
  out.write.reset();
  err.write.reset();
  const Patience patience{steady_clock::now() + command.patience, wanted};
  Speech speech(out, err);
  const auto status = listen(speech, running, patience);
  const auto failed = [&](const std::string& how) {
    return refused(fmt::format("{}, by which the kubeconfig's user logs in, {}{}",
                               in_quotes(command.program), how, last_words(speech.words)));
  };
  if (!status && speech.is_too_much()) return failed("says too much");
  if (!status && !patience.is_wanted()) return refused("stopped");
  if (!status) return failed("does not end within " + format_duration(command.patience));
  if (WIFSIGNALED(*status)) return failed(fmt::format("was killed by {}", WTERMSIG(*status)));
  if (WEXITSTATUS(*status) != 0) return failed(fmt::format("ended with {}", WEXITSTATUS(*status)));
  return std::move(speech.told);
}

}  // namespace assay::kubeapi
