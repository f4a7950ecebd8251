// SPDX-License-Identifier: Apache-2.0
#include "top_screen.h"

#include <array>
#include <csignal>
#include <cstdlib>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <assay/base/files.h>

namespace assay::cli {
namespace {

// Without breaking lines: a character that is wider than we think must not push the others down.
constexpr std::string_view kEnter = "\033[?1049h\033[?25l\033[?7l";
constexpr std::string_view kLeave = "\033[0m\033[?7h\033[?25h\033[?1049l";
constexpr std::array kCrashes = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT};

/// How the terminal was. Here, since a signal's handler finds nothing else.
struct Before {
  termios mode{};
  volatile std::sig_atomic_t taken_over = 0;
};
Before before;

/// Calls only what a signal's handler may.
void give_back() {
  if (before.taken_over == 0) return;
  before.taken_over = 0;
  static_cast<void>(::write(STDOUT_FILENO, kLeave.data(), kLeave.size()) < 0);
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before.mode);
}

void on_crash(int signal) {
  give_back();
  std::raise(signal);
}

void watch_crashes() {
  struct sigaction action = {};
  action.sa_handler = on_crash;
  // Its second coming does what it always did.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_NODEFER);
  for (const int signal : kCrashes) ::sigaction(signal, &action, nullptr);
}

}  // namespace

bool TopScreen::is_possible() {
  const char* const kind = std::getenv("TERM");
  const bool dumb = kind == nullptr || std::string_view(kind) == "dumb";
  return !dumb && ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
}

TopScreen::TopScreen() {
  watch_crashes();
  enter();
}

void TopScreen::enter() {
  if (before.taken_over == 0 && ::tcgetattr(STDIN_FILENO, &before.mode) != 0) return;
  before.taken_over = 1;
  termios mode = before.mode;
  mode.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO | IEXTEN));
  mode.c_iflag &= static_cast<tcflag_t>(~(IXON | ICRNL));
  mode.c_cc[VMIN] = 0;
  mode.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSADRAIN, &mode);
  static_cast<void>(write(kEnter));
}

void TopScreen::leave() {
  give_back();
}

ScreenSize TopScreen::size() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return {};
  return {size.ws_col, size.ws_row};
}

Result<void> TopScreen::write(std::string_view bytes) const {
  return write_all(STDOUT_FILENO, bytes);
}

}  // namespace assay::cli
