// SPDX-License-Identifier: Apache-2.0
#include "names.h"

#include "testing/machine.h"

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

// As Podman 4.3 writes it; its labels are in a database.
constexpr const char* kStorageList = R"([{"id": "77aa", "names": ["other"], "metadata": "{}"},
    {"id": "4f2a", "names": ["counter"], "image": "e35f", "layer": "f11f",
     "metadata": "{\"image-name\":\"localhost/lab/counter:1\",\"image-id\":\"e35f\",\"name\":\"counter\"}",
     "created": "2026-01-31T12:00:00.6Z", "flags": {"MountLabel": "", "ProcessLabel": ""}}])";

TEST(Names, of_a_container_of_podman) {
  const testing::Machine machine;
  machine.write("/var/lib/containers/storage/overlay-containers/containers.json", kStorageList);
  machine.write("/var/lib/containers/storage/overlay-containers/4f2a/userdata/config.json",
                R"({"annotations": {"io.container.manager": "libpod"}})");
  AppIdentity identity;
  identity.group.id = "4f2a";
  ASSERT_TRUE(take_files(machine.root(), identity));
  EXPECT_EQ(identity.name, "counter");
  EXPECT_EQ(identity.image, "localhost/lab/counter:1");
  EXPECT_EQ(identity.labels,
            (std::map<std::string, std::string>{{"io.container.manager", "libpod"}}));
}

TEST(Names, of_a_container_of_cri_o) {
  const testing::Machine machine;
  machine.write("/run/containers/storage/overlay-containers/4f2a/userdata/config.json",
                R"({"annotations": {"io.kubernetes.cri-o.KubeName": "train-0",
                    "io.kubernetes.cri-o.Namespace": "lab", "io.kubernetes.container.name": "main",
                    "io.kubernetes.cri-o.ContainerType": "container",
                    "io.kubernetes.cri-o.ImageName": "lab/train:2"}})");
  AppIdentity identity;
  identity.group.id = "4f2a";
  ASSERT_TRUE(take_files(machine.root(), identity));
  EXPECT_EQ(identity.pod, "train-0");
  EXPECT_EQ(identity.name_space, "lab");
  EXPECT_EQ(identity.container, "main");
  EXPECT_EQ(identity.image, "lab/train:2");
}

TEST(Names, one_that_no_file_knows_keeps_its_short_id) {
  const testing::Machine machine;
  machine.write("/var/lib/containers/storage/overlay-containers/containers.json", kStorageList);
  AppIdentity identity;
  identity.group.id = "123456789012";
  identity.name = "1234";
  EXPECT_FALSE(take_files(machine.root(), identity));
  EXPECT_EQ(identity.name, "1234");
}

TEST(Names, garbage_tells_nothing_and_changes_nothing) {
  AppIdentity identity;
  identity.name = "kept";
  for (const char* text : {"", "{", "[]", "null", R"({"message": "No such container"})",
                           R"({"Id": 5})", R"({"annotations": 7})"}) {
    EXPECT_FALSE(take_docker_inspect(text, identity)) << text;
  }
  EXPECT_FALSE(take_oci_config("{}", identity));
  identity.group.id = "4f2a";
  for (const char* text : {"", "{", "{}", "[5]", R"([{"id": 5}])", R"([{"id": "77aa"}])"})
    EXPECT_FALSE(take_storage_list(text, identity)) << text;
  EXPECT_TRUE(take_storage_list(R"([{"id": "4f2a", "metadata": "{"}])", identity));
  EXPECT_EQ(identity.name, "kept");
}

}  // namespace
}  // namespace assay::agent
