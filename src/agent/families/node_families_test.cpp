// SPDX-License-Identifier: Apache-2.0
// Replaces this test binary's operator new by one that counts.
#include "families/node_families.h"

#include "families/characteristics.h"
#include "testing/machine.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <sys/statvfs.h>

#include <assay/promapi/exposition.h>
#include <gtest/gtest.h>

namespace {
thread_local size_t allocations = 0;

void* counted(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(size_t size) {
  return counted(size);
}
void* operator new[](size_t size) {
  return counted(size);
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}

namespace assay::agent {
namespace {

const ManualClock& clock_of_2023() {
  static const ManualClock kClock(from_unix_ns(1'700'000'000'250'000'000));
  return kClock;
}

SysRoot tree(const std::string& name) {
  return SysRoot(std::string(ASSAY_SOURCE_DIR) + "/tests/sysroots/" + name);
}

std::string scrape(NodeFamilies& families) {
  promapi::Exposition out;
  out.start(promapi::TextFormat::classic);
  families.write(out);
  return std::string(out.finish());
}

std::string text_of(const SysRoot& root) {
  NodeFamilies families(root, clock_of_2023());
  return scrape(families);
}

/// Without the lines of help.
std::string samples_of(const SysRoot& root) {
  const std::string text = text_of(root);
  std::string samples;
  std::string_view rest = text;
  for (std::string_view line; next_line(rest, line);) {
    if (line.rfind("# HELP", 0) != 0) samples += std::string(line) + "\n";
  }
  return samples;
}

class NodeTrees : public ::testing::TestWithParam<const char*> {};

// tests/e2e/test_agent_node.py compares the same files with what node_exporter makes of the trees.
TEST_P(NodeTrees, give_what_was_written_down_for_them) {
  const std::string name = GetParam();
  const auto expected = read_file(std::string(ASSAY_TESTDATA) + "/node/" + name + ".prom");
  ASSERT_TRUE(expected) << expected.error().message;
  EXPECT_EQ(samples_of(tree(name)), *expected);
}

INSTANTIATE_TEST_SUITE_P(, NodeTrees,
                         ::testing::Values("raspberry-pi-4", "jetson-agx-orin", "x86-laptop",
                                           "x86-server-cgroup-v1", "vm-cgroup-v1",
                                           "gpu-server-cgroup-v2"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(NodeFamilies, allocate_nothing_once_the_devices_are_known) {
  for (const std::string name : {"vm-cgroup-v1", "x86-laptop", "jetson-agx-orin"}) {
    NodeFamilies families(tree(name), clock_of_2023());
    Characteristics characteristics(tree(name), clock_of_2023(), {});
    promapi::Exposition out;
    size_t before = 0;
    for (int round = 0; round < 12; ++round) {
      if (round == 2) before = allocations;
      out.start(promapi::TextFormat::classic);
      families.write(out);
      characteristics.write(out);
      EXPECT_FALSE(out.finish().empty());
    }
    EXPECT_EQ(allocations, before) << name;
  }
}

TEST(NodeFamilies, are_only_the_clock_where_there_are_no_files) {
  const SysRoot nothing("/nonexistent");
  EXPECT_EQ(samples_of(nothing),
            "# TYPE node_time_seconds gauge\nnode_time_seconds 1700000000.25\n");
}

TEST(NodeFamilies, survive_any_bytes) {
  const testing::Machine machine;
  using namespace std::string_literals;
  const std::string strange =
      "cpu\0 \xff\ncpu0 1 x -3\nintr\n:::\n\xfe: \xff kB\n 1 2 \xf0 4\n\\04"s;
  for (const std::string file : {"stat", "loadavg", "meminfo", "vmstat", "sys/fs/file-nr",
                                 "pressure/cpu", "diskstats", "net/dev", "mounts"})
    machine.write("/proc/" + file, strange);
  const std::string text = samples_of(machine.root());
  EXPECT_NE(text.find("node_cpu_seconds_total{cpu=\"0\",mode=\"user\"} 0.01\n"), text.npos) << text;
  EXPECT_EQ(text.find("mode=\"nice\""), text.npos) << "no number: no sample";
  EXPECT_EQ(text.find('\xff'), text.npos);
}

TEST(NodeFamilies, follow_interfaces_that_come_and_go) {
  const testing::Machine machine;
  const auto add = [&](const std::string& name, const std::string& state) {
    machine.write("/sys/class/net/" + name + "/operstate", state + "\n");
    machine.write("/sys/class/net/" + name + "/mtu", "1500\n");
  };
  const std::string numbers = " 10 1 0 0 0 0 0 0 20 2 0 0 0 0 0 0\n";
  add("eth0", "up");
  add("veth1", "down");
  machine.write("/proc/net/dev", "h | h\n veth1:" + numbers + "  eth0:" + numbers);
  NodeFamilies families(machine.root(), clock_of_2023());
  EXPECT_NE(scrape(families).find("node_network_up{device=\"veth1\"} 0\n"), std::string::npos);
  machine.write("/proc/net/dev", "h | h\n  eth0:" + numbers);
  const std::string after = scrape(families);
  EXPECT_EQ(after.find("veth1"), after.npos);
  EXPECT_NE(after.find("node_network_up{device=\"eth0\"} 1\n"), after.npos);
  EXPECT_NE(after.find("node_network_transmit_bytes_total{device=\"eth0\"} 20\n"), after.npos);
}

TEST(NodeFamilies, keep_cpu_time_from_stepping_back_a_little) {
  const testing::Machine machine;
  machine.write("/proc/stat", "cpu0 100 0 0 5000 70 0 0 0 0 0\n");
  NodeFamilies families(machine.root(), clock_of_2023());
  scrape(families);
  machine.write("/proc/stat", "cpu0 110 0 0 4999 60 0 0 0 0 0\n");
  std::string text = scrape(families);
  EXPECT_NE(text.find("mode=\"user\"} 1.1\n"), text.npos);
  EXPECT_NE(text.find("mode=\"idle\"} 50\n"), text.npos);
  EXPECT_NE(text.find("mode=\"iowait\"} 0.7\n"), text.npos);
  machine.write("/proc/stat", "cpu0 10 0 0 900 6 0 0 0 0 0\n");
  text = scrape(families);
  EXPECT_NE(text.find("mode=\"user\"} 0.1\n"), text.npos) << "the CPU was away";
  EXPECT_NE(text.find("mode=\"idle\"} 9\n"), text.npos);
}

TEST(NodeFamilies, name_chips_by_their_devices) {
  const testing::Machine machine;
  machine.write("/sys/devices/platform/coretemp.0/uevent", "");
  for (const std::string number : {"0", "1", "2"}) {
    const std::string folder = "/sys/class/hwmon/hwmon" + number;
    machine.write(folder + "/name", number == "2" ? "nvme\n" : "coretemp\n");
    machine.write(folder + "/temp1_input", "-1500\n");
    std::filesystem::create_symlink("../../../devices/platform/coretemp.0",
                                    machine.root().path(folder + "/device"));
  }
  const std::string text = text_of(machine.root());
  for (const std::string chip : {"hwmon0", "hwmon1", "nvme"}) {
    const std::string line = "node_hwmon_temp_celsius{chip=\"platform_coretemp_0_" + chip +
                             "\",sensor=\"temp1\"} -1.5\n";
    EXPECT_NE(text.find(line), text.npos) << line << text;
  }
}

TEST(NodeFilesystems, are_asked_only_where_nothing_can_hang) {
  const auto mounts = local_mounts(
      "/dev/sda1 / ext4 rw,relatime 0 0\n"
      "proc /proc proc rw 0 0\n"
      "tmpfs /run tmpfs ro,nosuid 0 0\n"
      "/dev/sda1 / ext4 rw 0 0\n"
      "server:/export /srv/far nfs4 rw 0 0\n"
      "/dev/sdb1 /srv/far/near ext4 rw 0 0\n"
      "/dev/sdb2 /srv/farther xfs rw 0 0\n"
      "me@server:/ /home/me/far fuse.sshfs rw 0 0\n"
      "/dev/sdc1 /media/stick fuseblk rw 0 0\n"
      "overlay /var/lib/docker/overlay2/x/merged overlay rw 0 0\n"
      "/dev/sda1 /var/lib/docker/volumes ext4 rw 0 0\n"
      "tmpfs /dev/shm tmpfs rw 0 0\n"
      "/dev/sdd1 /mnt/two\\040words ext4 rw 0 0\n");
  std::string points;
  for (const auto& mount : mounts) points += mount.point + (mount.readonly ? " ro|" : "|");
  EXPECT_EQ(points, "/|/run ro|/srv/farther|/mnt/two words|");
}

TEST(NodeFilesystems, tell_what_the_kernel_tells) {
  const testing::Machine machine;
  machine.write("/data/file", "x");
  machine.write("/proc/mounts", "/dev/sda1 /data ext4 ro 0 0\n/dev/sdb1 /gone ext4 rw 0 0\n");
  const std::string text = text_of(machine.root());
  struct statvfs answer {};
  ASSERT_EQ(::statvfs(machine.root().path("/data").c_str(), &answer), 0);
  const std::string labels = R"({device="/dev/sda1",fstype="ext4",mountpoint="/data"} )";
  const auto size = static_cast<uint64_t>(answer.f_blocks) * answer.f_frsize;
  for (const std::string& line :
       {"node_filesystem_size_bytes" + labels + std::to_string(size) + "\n",
        "node_filesystem_readonly" + labels + "1\n",
        "node_filesystem_device_error" + labels + "0\n"})
    EXPECT_NE(text.find(line), text.npos) << line << text;
  const std::string gone = R"({device="/dev/sdb1",fstype="ext4",mountpoint="/gone"})";
  EXPECT_NE(text.find("node_filesystem_device_error" + gone + " 1\n"), text.npos);
  EXPECT_EQ(text.find("node_filesystem_size_bytes" + gone), text.npos);
}

}  // namespace
}  // namespace assay::agent
