// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace assay::cli {

std::string clock_text(Nanoseconds duration) {
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (s < 3600) return fmt::format("{}:{:02}", s / 60, s % 60);
  return fmt::format("{}:{:02}:{:02}", s / 3600, s % 3600 / 60, s % 60);
}

size_t terminal_columns(int fd, size_t otherwise) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return otherwise;
}

Look output_look() {
  Look look;
  look.color = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  look.columns = std::clamp<size_t>(terminal_columns(STDOUT_FILENO, 100), 40, 100);
  return look;
}

}  // namespace assay::cli
