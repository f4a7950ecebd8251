// SPDX-License-Identifier: Apache-2.0
#include "families/families.h"
#include "testing/machine.h"

#include <assay/promapi/exposition.h>
#include <gtest/gtest.h>

namespace assay::agent {
namespace {

TEST(ContainerFamilies, have_cadvisors_names_and_labels) {
  const std::string id(64, 'b');
  const std::string path = "/docker/" + id;
  const testing::Machine machine;
  const ManualClock clock(from_unix_ns(1'700'000'000'000'000'000));
  LiveTable table(machine.root(), clock, {});
  machine.make_group(path, 12.5, 5000);
  machine.write("/cg" + path + "/io.stat", "999:3 rbytes=10 wbytes=20 rios=1 wios=2\n");
  table.group_appeared(path);
  AppIdentity identity = table.find(path)->identity();
  identity.name = "detector";
  identity.image = "waggle/detector:1";
  table.find(path)->identify(identity);
  table.beat();
  promapi::Exposition out;
  out.start(promapi::TextFormat::classic);
  write_containers(out, table);
  const std::string text(out.finish());
  const std::string labels = R"(id=")" + path + R"(",image="waggle/detector:1",name="detector")";
  for (const std::string& line :
       {"container_cpu_usage_seconds_total{" + labels + ",cpu=\"total\"} 12.5\n",
        "container_memory_working_set_bytes{" + labels + "} 4900\n",
        "container_memory_max_usage_bytes{" + labels + "} 10000\n",
        "container_fs_writes_bytes_total{" + labels + ",device=\"999:3\"} 20\n",
        "container_spec_memory_limit_bytes{" + labels + "} 0\n",
        "container_last_seen{" + labels + "} 1700000000\n",
        std::string("# TYPE container_cpu_usage_seconds_total counter\n")}) {
    EXPECT_NE(text.find(line), text.npos) << line << "is not in\n" << text;
  }
  EXPECT_EQ(text.find("container_pressure"), text.npos) << "not measured: absent, not zero";
}

}  // namespace
}  // namespace assay::agent
