// SPDX-License-Identifier: Apache-2.0
#include "families/families.h"
#include "testing/machine.h"

#include <assay/promapi/exposition.h>
#include <gtest/gtest.h>

namespace assay::agent {
namespace {

const std::string kPath = "/docker/" + std::string(64, 'b');
const std::string kLabels = R"(id=")" + kPath + R"(",image="waggle/detector:1",name="detector")";

class ContainerFamiliesTest : public ::testing::Test {
 protected:
  ContainerFamiliesTest() { machine.make_group(kPath, 12.5, 5000); }

  void write(const std::string& file, const std::string& text) const {
    machine.write("/cg" + kPath + file, text);
  }
  /// What is told of the container once it was read.
  std::string exposed() const {
    const ManualClock clock(from_unix_ns(1'700'000'000'000'000'000));
    LiveTable table(machine.root(), clock, {});
    table.group_appeared(kPath);
    AppIdentity identity = table.find(kPath)->identity();
    identity.name = "detector";
    identity.image = "waggle/detector:1";
    table.find(kPath)->identify(identity);
    table.beat();
    promapi::Exposition out;
    out.start(promapi::TextFormat::classic);
    write_containers(out, table);
    return std::string(out.finish());
  }

  testing::Machine machine;
};

TEST_F(ContainerFamiliesTest, have_cadvisors_names_and_labels) {
  write("/io.stat", "999:3 rbytes=10 wbytes=20 rios=1 wios=2\n");
  write("/memory.stat", "anon 1000\nfile 500\ninactive_file 100\npgfault 7\npgmajfault 2\n");
  const std::string text = exposed();
  const auto faults = [](const char* type, const char* scope) {
    return fmt::format(R"(container_memory_failures_total{{{},failure_type="{}",scope="{}"}} )",
                       kLabels, type, scope);
  };
  for (const std::string& line :
       {"container_cpu_usage_seconds_total{" + kLabels + ",cpu=\"total\"} 12.5\n",
        "container_memory_working_set_bytes{" + kLabels + "} 4900\n",
        "container_memory_max_usage_bytes{" + kLabels + "} 10000\n",
        faults("pgfault", "container") + "7\n", faults("pgfault", "hierarchy") + "7\n",
        faults("pgmajfault", "container") + "2\n", faults("pgmajfault", "hierarchy") + "2\n",
        "container_fs_writes_bytes_total{" + kLabels + ",device=\"999:3\"} 20\n",
        "container_blkio_device_usage_total{" + kLabels +
            R"(,device="999:3",major="999",minor="3",operation="Read"} 10)" + "\n",
        "container_blkio_device_usage_total{" + kLabels +
            R"(,device="999:3",major="999",minor="3",operation="Write"} 20)" + "\n",
        "container_spec_memory_limit_bytes{" + kLabels + "} 0\n",
        "container_last_seen{" + kLabels + "} 1700000000\n",
        std::string("# TYPE container_cpu_usage_seconds_total counter\n")}) {
    EXPECT_NE(text.find(line), text.npos) << line << "is not in\n" << text;
  }
  EXPECT_EQ(text.find("container_pressure"), text.npos) << "not measured: absent, not zero";
}

TEST_F(ContainerFamiliesTest, of_throttling_are_told_where_there_is_a_quota) {
  const std::string line = "container_cpu_cfs_throttled_periods_total{" + kLabels + "} 3\n";
  write("/cpu.stat", "usage_usec 1\nnr_periods 9\nnr_throttled 3\nthrottled_usec 5\n");
  write("/cpu.max", "max 100000\n");
  EXPECT_EQ(exposed().find("container_cpu_cfs_"), std::string::npos) << exposed();
  write("/cpu.max", "50000 100000\n");
  EXPECT_NE(exposed().find(line), std::string::npos) << exposed();
}

TEST(MachineFamilies, tell_what_the_machine_has) {
  Device device;
  device.machine_id = "1f";
  device.cores = 4;
  promapi::Exposition out;
  out.start(promapi::TextFormat::classic);
  write_machine(out, device);
  const std::string text(out.finish());
  EXPECT_NE(text.find("machine_cpu_cores{machine_id=\"1f\"} 4\n"), text.npos) << text;
  EXPECT_EQ(text.find("machine_memory_bytes"), text.npos) << "not known: absent";
}

}  // namespace
}  // namespace assay::agent
