// SPDX-License-Identifier: Apache-2.0
#include "act/limits.h"

#include "testing/machine.h"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using nlohmann::json;

json update(const char* inspected, const LimitChange& change, const probes::GroupLimits& now = {}) {
  return json::parse(docker_update(inspected, change, now));
}

TEST(DockerUpdate, of_a_container_without_a_limit_is_by_quota) {
  EXPECT_EQ(update(R"({"HostConfig": {"NanoCpus": 0}})", {.cores = 0.75}),
            json::parse(R"({"CpuPeriod": 100000, "CpuQuota": 75000})"));
  EXPECT_EQ(update(R"({"HostConfig": {}})", {.cores = 0})["CpuQuota"], -1) << "no limit";
}

TEST(DockerUpdate, of_a_container_with_cpus_is_by_the_same) {
  EXPECT_EQ(update(R"({"HostConfig": {"NanoCpus": 500000000}})", {.cores = 0.75}),
            json::parse(R"({"NanoCpus": 750000000})"));
}

TEST(DockerUpdate, of_memory_keeps_the_swap_beside_it) {
  probes::GroupLimits now;
  now.memory = 100e6;
  now.swap = 150e6;
  EXPECT_EQ(update(R"({"HostConfig": {}})", {.memory_bytes = 200'000'000}, now),
            json::parse(R"({"Memory": 200000000, "MemorySwap": 250000000})"));
}

TEST(DockerUpdate, of_an_answer_that_is_none_is_none) {
  EXPECT_EQ(docker_update("no such container", {.cores = 1}, {}), "");
  EXPECT_EQ(docker_update(R"({"HostConfig": 4})", {.cores = 1}, {}), "");
}

TEST(WriteLimits, into_the_files_of_v2) {
  const testing::Machine machine;
  machine.write("/cg/app/cpu.max", "");
  machine.write("/cg/app/memory.max", "");
  probes::CgroupPaths group;
  group.unified = true;
  group.v2 = "/cg/app";
  ASSERT_TRUE(write_limits(machine.root(), group, {.cores = 1.5, .memory_bytes = 5000}));
  EXPECT_EQ(*machine.root().read("/cg/app/cpu.max"), "150000 100000");
  EXPECT_EQ(*machine.root().read("/cg/app/memory.max"), "5000");
}

TEST(WriteLimits, into_the_files_of_v1) {
  const testing::Machine machine;
  for (const char* file : {"/cpu/app/cpu.cfs_period_us", "/cpu/app/cpu.cfs_quota_us"})
    machine.write(file, "");
  probes::CgroupPaths group;
  group.cpu = "/cpu/app";
  ASSERT_TRUE(write_limits(machine.root(), group, {.cores = 0.5}));
  EXPECT_EQ(*machine.root().read("/cpu/app/cpu.cfs_quota_us"), "50000");
}

TEST(WriteLimits, say_what_stands_in_the_way) {
  const testing::Machine machine;
  probes::CgroupPaths group;
  group.unified = true;
  group.v2 = "/cg/gone";
  const auto written = write_limits(machine.root(), group, {.cores = 1});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("cg/gone/cpu.max"), std::string::npos);
}

}  // namespace
}  // namespace assay::agent
