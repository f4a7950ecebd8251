// SPDX-License-Identifier: Apache-2.0
// exec_clock FILE: writes the monotonic clock at its start, in nanoseconds, to FILE.

#include <chrono>
#include <cstdio>

int main(int argc, char** argv) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  std::FILE* file = argc == 2 ? std::fopen(argv[1], "w") : nullptr;
  if (file == nullptr) {
    std::fputs("usage: exec_clock FILE (that can be written)\n", stderr);
    return 2;
  }
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  std::fprintf(file, "%lld\n", static_cast<long long>(ns));
  return std::fclose(file) == 0 ? 0 : 1;
}
