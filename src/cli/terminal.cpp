// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <algorithm>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace assay::cli {

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
