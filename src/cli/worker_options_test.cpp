// SPDX-License-Identifier: Apache-2.0
#include "worker_options.h"

#include <gtest/gtest.h>

namespace assay::cli {
namespace {

TEST(EndCommand, leads_to_where_the_worker_is) {
  WorkerOptions options;
  EXPECT_EQ(end_command(options, "w"), "assay place --end w");
  options.dockers = {"pi-1=tcp://10.0.0.7:2376"};
  EXPECT_EQ(end_command(options, "w"), "assay place --end w --docker pi-1=tcp://10.0.0.7:2376");
  WorkerOptions cluster;
  cluster.kubernetes = true;
  cluster.cluster.kubeconfig = "lab.yaml";
  EXPECT_EQ(end_command(cluster, "w"),
            "assay place --end w --kubernetes --namespace default --kubeconfig lab.yaml");
}

}  // namespace
}  // namespace assay::cli
