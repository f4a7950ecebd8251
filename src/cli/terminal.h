// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include <assay/base/time.h>

namespace assay::cli {

/// "0:12", "1:02:03": whole seconds.
std::string clock_text(Nanoseconds duration);

/// Columns of the terminal behind a descriptor; `otherwise` when it is none.
size_t terminal_columns(int fd, size_t otherwise);

/// How text on standard output looks: colours on a terminal unless NO_COLOR is set, lines of 40 to
/// 100 columns as the terminal has them, else of 100.
struct Look {
  bool color = false;
  size_t columns = 100;
};
Look output_look();

}  // namespace assay::cli
