// SPDX-License-Identifier: Apache-2.0
// The Python client against the profiler's own server, through shared memory.
#include "testing/reports.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/hooks/server.h>
#include <gtest/gtest.h>

namespace assay::hooks {
namespace {
namespace fs = std::filesystem;

/// Reports until the memory is there, and then a known number of values.
constexpr const char* kScript = R"(
import sys, time, assay
metrics = assay.LiveMetrics(sys.argv[1])
while metrics._sender.memory is None:
    metrics.push('waiting', 1)
    time.sleep(0.001)
for i in range(100):
    metrics.push('n', i)
    metrics.counter('birds', 2)
latency = metrics.timer_handle('latency')
for i in range(10000):
    latency.stop(latency.start() - 5000000)
with metrics.timer('latency'):
    pass
)";

TEST(PythonClient, reports_through_shared_memory) {
  std::string pattern = fs::temp_directory_path() / "assay-client-XXXXXX";
  const fs::path dir = mkdtemp(pattern.data());
  const std::string path = dir / "s";
  const SystemClock clock;
  Reports reports;
  auto server = std::move(*listen(path, clock, reports));
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("PYTHONPATH", ASSAY_SOURCE_DIR "/clients/python", 1);
    ::setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    ::setenv("ASSAY_APP", "snake", 1);
    ::execl("/usr/bin/python3", "python3", "-c", kScript, path.c_str(), nullptr);
    ::_exit(127);
  }
  while (reports.callers.empty() || !reports.callers.front().gone) server->poll();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  const Reports::Told& told = reports.callers.front();
  EXPECT_EQ(told.caller.pid, child);
  EXPECT_EQ(told.app, "snake");
  EXPECT_EQ(told.find("n")->values.size(), 100U);
  EXPECT_EQ(told.find("n")->values.back(), 99);
  EXPECT_EQ(told.find("birds")->values.back(), 200);
  EXPECT_EQ(told.find("birds")->info.kind, ReportKind::counter);
  EXPECT_EQ(told.find("latency")->durations.count(), 10'001U);
  EXPECT_NEAR(told.find("latency")->durations.quantile(0.5), 0.005, 0.0001);
  EXPECT_TRUE(told.find("latency")->values.empty());
  EXPECT_TRUE(told.losses.empty());
  server.reset();
  fs::remove_all(dir);
}

}  // namespace
}  // namespace assay::hooks
