// SPDX-License-Identifier: Apache-2.0
#include "test_support.h"

#include <assay/probes/probe.h>
#include <gtest/gtest.h>

namespace assay::probes {
namespace {

AppTarget target_in(const SysRoot& root, pid_t pid) {
  AppTarget target;
  target.cgroup = cgroups_of(root, pid);
  target.root = pid;
  return target;
}

TEST(AppProbes, of_a_v2_group) {
  const SysRoot root = sysroot("container-cgroup-v2");
  Watched app(app_probes(root, target_in(root, 700)));
  app.sample();
  EXPECT_DOUBLE_EQ(app.value("cpu_usage_seconds_total"), 5);
  EXPECT_DOUBLE_EQ(app.value("cpu_user_seconds_total"), 4.2);
  EXPECT_DOUBLE_EQ(app.value("cpu_system_seconds_total"), 0.8);
  EXPECT_DOUBLE_EQ(app.value("cpu_throttled_seconds_total"), 0.25);
  EXPECT_DOUBLE_EQ(app.value("memory_bytes"), 70e6) << "without inactive file cache";
  EXPECT_DOUBLE_EQ(app.value("memory_cache_bytes"), 30e6);
  EXPECT_DOUBLE_EQ(app.value("memory_peak_bytes"), 120e6);
  EXPECT_DOUBLE_EQ(app.value("memory_swap_bytes"), 4096);
  EXPECT_DOUBLE_EQ(app.value("memory_rss_bytes"), 40960.0 * 1024);
  EXPECT_DOUBLE_EQ(app.value("page_faults_total"), 123456);
  EXPECT_DOUBLE_EQ(app.value("major_page_faults_total"), 78);
  EXPECT_DOUBLE_EQ(app.value("disk_read_bytes_total"), 1001);
  EXPECT_DOUBLE_EQ(app.value("disk_write_bytes_total"), 2002);
  EXPECT_DOUBLE_EQ(app.value("disk_reads_total"), 13);
  EXPECT_DOUBLE_EQ(app.value("disk_writes_total"), 24);
  EXPECT_DOUBLE_EQ(app.value("pressure_cpu_waiting_seconds_total"), 3);
  EXPECT_DOUBLE_EQ(app.value("pressure_memory_stalled_seconds_total"), 0.1);
  EXPECT_DOUBLE_EQ(app.value("threads"), 9);
  EXPECT_DOUBLE_EQ(app.value("processes"), 1);
  EXPECT_DOUBLE_EQ(app.value("open_files"), 3);
  EXPECT_DOUBLE_EQ(app.value("context_switches_total"), 130);
  EXPECT_DOUBLE_EQ(app.value("cpu_waiting_seconds_total"), 0.75);
  EXPECT_EQ(app.find("cpu_usage_seconds_total")->info.source, "cgroup v2 cpu.stat usage_usec");
}

TEST(AppProbes, of_a_container_whose_group_systemd_made) {
  const SysRoot root = sysroot("docker-cgroup-v2");
  Watched app(app_probes(root, target_in(root, 468)));
  app.sample();
  EXPECT_DOUBLE_EQ(app.value("cpu_usage_seconds_total"), 58.725674);
  EXPECT_DOUBLE_EQ(app.value("cpu_user_seconds_total"), 33.370873);
  EXPECT_DOUBLE_EQ(app.value("cpu_throttled_seconds_total"), 55.118539);
  EXPECT_DOUBLE_EQ(app.value("memory_bytes"), 67563520.0 - 4096) << "without inactive file cache";
  EXPECT_DOUBLE_EQ(app.value("memory_peak_bytes"), 67801088);
  EXPECT_DOUBLE_EQ(app.value("page_faults_total"), 1328);
  EXPECT_DOUBLE_EQ(app.value("disk_read_bytes_total"), 4096);
  EXPECT_DOUBLE_EQ(app.value("disk_reads_total"), 1);
  EXPECT_DOUBLE_EQ(app.value("pressure_cpu_waiting_seconds_total"), 50.605037);
  EXPECT_DOUBLE_EQ(app.value("context_switches_total"), 568);
  EXPECT_DOUBLE_EQ(app.value("processes"), 1);
}

TEST(AppProbes, of_a_group_on_a_large_server) {
  const SysRoot root = sysroot("gpu-server-cgroup-v2");
  Watched app(app_probes(root, target_in(root, 455)));
  app.sample();
  EXPECT_DOUBLE_EQ(app.value("cpu_usage_seconds_total"), 9.502568);
  EXPECT_DOUBLE_EQ(app.value("cpu_throttled_seconds_total"), 2.987142);
  EXPECT_DOUBLE_EQ(app.value("memory_bytes"), 117661696.0 - 1007616);
  EXPECT_DOUBLE_EQ(app.value("memory_peak_bytes"), 117678080);
  EXPECT_DOUBLE_EQ(app.value("disk_read_bytes_total"), 1208320);
  EXPECT_DOUBLE_EQ(app.value("pressure_cpu_waiting_seconds_total"), 0.744765);
}

TEST(AppProbes, of_v1_groups) {
  const SysRoot root = sysroot("x86-server-cgroup-v1");
  Watched app(app_probes(root, target_in(root, 900)));
  app.sample();
  EXPECT_DOUBLE_EQ(app.value("cpu_usage_seconds_total"), 4.123456789);
  EXPECT_DOUBLE_EQ(app.value("cpu_user_seconds_total"), 3.5);
  EXPECT_DOUBLE_EQ(app.value("cpu_system_seconds_total"), 0.62);
  EXPECT_DOUBLE_EQ(app.value("cpu_throttled_seconds_total"), 1.5);
  EXPECT_DOUBLE_EQ(app.value("memory_bytes"), 7e6);
  EXPECT_DOUBLE_EQ(app.value("memory_peak_bytes"), 9e6);
  EXPECT_DOUBLE_EQ(app.value("memory_cache_bytes"), 3145728);
  EXPECT_DOUBLE_EQ(app.value("memory_swap_bytes"), 8192);
  EXPECT_DOUBLE_EQ(app.value("memory_rss_bytes"), (10240.0 + 1024) * 1024);
  EXPECT_DOUBLE_EQ(app.value("page_faults_total"), 9000);
  EXPECT_DOUBLE_EQ(app.value("disk_reads_total"), 125);
  EXPECT_DOUBLE_EQ(app.value("disk_writes_total"), 31);
  EXPECT_DOUBLE_EQ(app.value("disk_read_bytes_total"), 4196)
      << "from /proc: v1 does not charge write-back";
  EXPECT_DOUBLE_EQ(app.value("threads"), 4);
  EXPECT_DOUBLE_EQ(app.value("processes"), 2) << "the zombie is not alive";
  EXPECT_NE(app.why_not("app pressure").find("cgroup v2"), std::string::npos);
}

TEST(AppProbes, without_a_group_add_up_the_tree) {
  const SysRoot root = sysroot("x86-server-cgroup-v1");
  AppTarget target;
  target.root = 900;
  Watched app(app_probes(root, target));
  app.sample();
  EXPECT_DOUBLE_EQ(app.value("cpu_user_seconds_total"), 3.77) << "300 + 50 + 20 + 7 ticks";
  EXPECT_DOUBLE_EQ(app.value("cpu_system_seconds_total"), 0.54);
  EXPECT_DOUBLE_EQ(app.value("cpu_usage_seconds_total"), 4.31);
  EXPECT_DOUBLE_EQ(app.value("memory_bytes"), (10240.0 + 1024) * 1024);
  EXPECT_DOUBLE_EQ(app.value("memory_peak_bytes"), 12000.0 * 1024)
      << "the first process's own peak";
  EXPECT_DOUBLE_EQ(app.value("memory_swap_bytes"), 65536);
  EXPECT_DOUBLE_EQ(app.value("page_faults_total"), 314);
  EXPECT_DOUBLE_EQ(app.value("major_page_faults_total"), 3);
  EXPECT_DOUBLE_EQ(app.value("disk_write_bytes_total"), 8392);
  for (const auto* what : {"cpu_throttled", "memory_cache", "disk operations", "pressure"}) {
    EXPECT_NE(app.why_not(what).find("only a control group"), std::string::npos) << what;
  }
}

TEST(AppProbes, do_not_count_the_keeper_itself) {
  const SysRoot root = sysroot("x86-server-cgroup-v1");
  AppTarget target;
  target.root = 900;
  target.include_root = false;
  Watched app(app_probes(root, target));
  app.sample();
  EXPECT_DOUBLE_EQ(app.value("cpu_user_seconds_total"), 0.77) << "50 of reaped children, 20, 7";
  EXPECT_DOUBLE_EQ(app.value("page_faults_total"), 213) << "200 + 2 of reaped children, 10, 1";
  EXPECT_DOUBLE_EQ(app.value("disk_read_bytes_total"), 100)
      << "the keeper's own I/O from before is left out";
  EXPECT_DOUBLE_EQ(app.value("processes"), 1);
  EXPECT_DOUBLE_EQ(app.value("memory_rss_bytes"), 1024.0 * 1024);
}

TEST(AppProbes, on_a_kernel_that_does_not_count_operations_say_so) {
  const SysRoot root = sysroot("vm-cgroup-v1");
  Watched app(app_probes(root, target_in(root, 4242)));
  app.sample();
  EXPECT_FALSE(app.find("disk_reads_total"));
  EXPECT_NE(app.why_not("disk operations").find("blkio limit"), std::string::npos);
  EXPECT_DOUBLE_EQ(app.value("memory_rss_bytes"), 29412.0 * 1024);
  EXPECT_DOUBLE_EQ(app.value("cpu_usage_seconds_total"), 0.045899206);
}

TEST(AppProbes, of_a_process_that_does_not_exist_give_a_reason) {
  AppTarget target;
  target.root = 99999;
  const Watched app(app_probes(sysroot("x86-server-cgroup-v1"), target));
  EXPECT_NE(app.closed().at("app processes").find("cannot be found"), std::string::npos);
}

}  // namespace
}  // namespace assay::probes
