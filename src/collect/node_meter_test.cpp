// SPDX-License-Identifier: Apache-2.0
#include "node_meter.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace assay::collect {
namespace {

namespace fs = std::filesystem;

/// A machine of few files.
class Machine {
 public:
  Machine() {
    std::string name = (fs::temp_directory_path() / "assay-machine-XXXXXX").native();
    path_ = ::mkdtemp(name.data());
    write("/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 250 kB\n");
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() { fs::remove_all(path_); }

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(path_ + file).parent_path());
    std::ofstream(path_ + file) << text;
  }
  SysRoot root() const { return SysRoot(path_); }

 private:
  std::string path_;
};

Device device() {
  Device device;
  device.memory_bytes = 1'024'000;
  return device;
}

TEST(NodeMeter, tells_what_changed_between_two_moments) {
  const Machine machine;
  const std::string rapl = "/sys/class/powercap/intel-rapl:0/";
  machine.write(rapl + "name", "package-0");
  machine.write(rapl + "max_energy_range_uj", "262143328850");
  machine.write(rapl + "energy_uj", "1000000");
  machine.write("/proc/diskstats", "254 0 vda 10 0 100 0 20 0 200 0 0 0 0\n");
  NodeMeter meter(device(), machine.root());
  meter.begin();
  machine.write(rapl + "energy_uj", "3500000");
  machine.write("/proc/diskstats", "254 0 vda 11 0 108 0 22 0 232 0 0 0 0\n");
  const NodeUse use = meter.end();
  ASSERT_TRUE(use.joules && use.disk_read_bytes && use.disk_write_bytes && use.memory_percent);
  EXPECT_NEAR(*use.memory_percent, 75, 0.01);
  // By way of rates, over a moment that two clock readings bound.
  EXPECT_GT(*use.joules, 2.5 * 0.9);
  EXPECT_GT(*use.disk_read_bytes, 8 * 512 * 0.9);
  EXPECT_NEAR(*use.disk_write_bytes / *use.disk_read_bytes, 4, 0.01);
}

TEST(NodeMeter, what_the_machine_cannot_tell_is_absent) {
  const Machine machine;
  NodeMeter meter(device(), machine.root());
  meter.begin();
  const NodeUse use = meter.end();
  EXPECT_FALSE(use.joules);
  EXPECT_FALSE(use.disk_read_bytes);
  EXPECT_TRUE(use.memory_percent);
}

}  // namespace
}  // namespace assay::collect
