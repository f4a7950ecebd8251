// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

TEST(Names, of_a_container_of_docker) {
  AppIdentity identity;
  ASSERT_TRUE(take_docker_inspect(
      R"({"Id": "4f2a", "Name": "/detector", "Config": {"Image": "waggle/detector:1",
          "Labels": {"assay.goals": "fps >= 10", "number": 3}}})",
      identity));
  EXPECT_EQ(identity.name, "detector");
  EXPECT_EQ(identity.image, "waggle/detector:1");
  EXPECT_EQ(identity.labels, (std::map<std::string, std::string>{{"assay.goals", "fps >= 10"}}));
  EXPECT_EQ(identity.pod, "");
}

TEST(Names, of_a_container_that_the_kubelet_started_in_docker) {
  AppIdentity identity;
  ASSERT_TRUE(take_docker_inspect(
      R"({"Id": "4f2a", "Name": "/k8s_main_train-0_lab_uid_0", "Config": {"Image": "sha256:11",
          "Labels": {"io.kubernetes.pod.name": "train-0", "io.kubernetes.pod.namespace": "lab",
                     "io.kubernetes.container.name": "main"}}})",
      identity));
  EXPECT_EQ(identity.pod, "train-0");
  EXPECT_EQ(identity.name_space, "lab");
  EXPECT_EQ(identity.container, "main");
}

TEST(Names, of_a_container_that_containerd_started) {
  AppIdentity identity;
  ASSERT_TRUE(take_oci_config(
      R"({"ociVersion": "1.0.2", "annotations": {"io.kubernetes.cri.container-name": "main",
          "io.kubernetes.cri.container-type": "container",
          "io.kubernetes.cri.image-name": "lab/train:2",
          "io.kubernetes.cri.sandbox-name": "train-0",
          "io.kubernetes.cri.sandbox-namespace": "lab"}})",
      identity));
  EXPECT_EQ(identity.pod, "train-0");
  EXPECT_EQ(identity.name_space, "lab");
  EXPECT_EQ(identity.container, "main");
  EXPECT_EQ(identity.image, "lab/train:2");
}

TEST(Names, garbage_tells_nothing_and_changes_nothing) {
  AppIdentity identity;
  identity.name = "kept";
  for (const char* text : {"", "{", "[]", "null", R"({"message": "No such container"})",
                           R"({"Id": 5})", R"({"annotations": 7})"}) {
    EXPECT_FALSE(take_docker_inspect(text, identity)) << text;
  }
  EXPECT_FALSE(take_oci_config("{}", identity));
  EXPECT_EQ(identity.name, "kept");
}

}  // namespace
}  // namespace assay::agent
