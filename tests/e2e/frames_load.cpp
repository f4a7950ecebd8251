// SPDX-License-Identifier: Apache-2.0
// frames_load THREADS CPU_MILLISECONDS [SECONDS]: works on frames, each of which costs so much time
// of a core, on all threads at once, and reports its frames per second. It takes every core that it
// is given, and its rate follows from how many these are.

#include <assay.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <vector>

namespace {

double thread_cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

void work(double cpu_seconds) {
  const double end = thread_cpu_seconds() + cpu_seconds;
  while (thread_cpu_seconds() < end) {
    [[maybe_unused]] volatile int sum = 0;
    for (int i = 0; i < 2000; ++i) sum = i;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: frames_load THREADS CPU_MILLISECONDS [SECONDS]\n", stderr);
    return 2;
  }
  const int threads = std::atoi(argv[1]);
  const double cost = std::atof(argv[2]) / 1000;
  const double length = argc > 3 ? std::atof(argv[3]) : 3600;
  assay::client::LiveMetrics metrics;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(length);
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) {
    workers.emplace_back([&] {
      while (std::chrono::steady_clock::now() < end) {
        work(cost);
        metrics.rate("fps");
      }
    });
  }
  for (auto& worker : workers) worker.join();
  return 0;
}
