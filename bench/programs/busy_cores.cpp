// SPDX-License-Identifier: Apache-2.0
// busy_cores CHUNKS [THREADS]: the same work every time, split evenly over all cores (or THREADS),
// and how long it took. Each thread has its fixed share, so that a core which is held up holds up
// the whole. A chunk is about a millisecond over data that fits a core's own cache.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

namespace {

double work(std::vector<double>& data) {
  double sum = 0;
  for (int round = 0; round < 40; ++round) {
    for (double& x : data) {
      x = x * 0.999 + 0.5;
      sum += x;
    }
  }
  return sum;
}

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: busy_cores CHUNKS [THREADS]\n", stderr);
    return 2;
  }
  const auto start = std::chrono::steady_clock::now();
  const long chunks = std::strtol(argv[1], nullptr, 10);
  const auto threads = argc > 2 ? static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10))
                                : std::max(1U, std::thread::hardware_concurrency());
  const long share = (chunks + threads - 1) / threads;
  std::atomic<double> result = 0;
  {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < threads; ++i) {
      workers.emplace_back([share, &result] {
        std::vector<double> data(16384, 1.0);
        double sum = 0;
        for (long chunk = 0; chunk < share; ++chunk) sum += work(data);
        result += sum;
      });
    }
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  std::printf("{\"wall_seconds\": %.6f, \"cpu_seconds\": %.6f, \"result\": %g}\n", wall.count(),
              cpu_seconds(), result.load());
  return 0;
}
