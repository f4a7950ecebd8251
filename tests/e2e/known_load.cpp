// SPDX-License-Identifier: Apache-2.0
// known_load THREADS CPU_SECONDS BYTES: touches BYTES, then keeps THREADS busy until the process
// has used CPU_SECONDS, and prints what it used. Its footprint is known before it is measured.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sys/mman.h>
#include <sys/resource.h>
#include <thread>
#include <vector>

namespace {

double process_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// False when there is not that much memory.
bool touch(size_t bytes) {
  if (bytes == 0) return true;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  const size_t page = 4096;
  for (size_t i = 0; i < bytes; i += page) static_cast<volatile char*>(memory)[i] = 1;
  return true;
}

void spin_until(double cpu_seconds) {
  while (process_cpu_seconds() < cpu_seconds) {
    [[maybe_unused]] volatile int work = 0;
    for (int i = 0; i < 20000; ++i) work = i;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: known_load THREADS CPU_SECONDS BYTES\n", stderr);
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  const double cpu_seconds = std::strtod(argv[2], nullptr);
  if (!touch(std::strtoull(argv[3], nullptr, 10))) {
    std::fputs("known_load: not enough memory\n", stderr);
    return 1;
  }
  {
    std::vector<std::jthread> threads;
    for (long i = 1; i < std::strtol(argv[1], nullptr, 10); ++i) {
      threads.emplace_back([cpu_seconds] { spin_until(cpu_seconds); });
    }
    spin_until(cpu_seconds);
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("{\"cpu_seconds\": %.6f, \"wall_seconds\": %.6f, \"max_rss_bytes\": %ld}\n",
              process_cpu_seconds(), wall.count(), usage.ru_maxrss * 1024);
  return 0;
}
