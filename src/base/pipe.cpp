// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include <assay/base/pipe.h>

namespace assay {

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return refused_errno("cannot make a pipe", errno);
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

}  // namespace assay
