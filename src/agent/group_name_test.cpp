// SPDX-License-Identifier: Apache-2.0
#include "group_name.h"

#include <gtest/gtest.h>

namespace assay::agent {
namespace {

const std::string kId(64, 'a');

struct Case {
  std::string path;
  GroupKind kind;
  std::string id;
  std::string runtime;
  std::string pod_uid;
};

TEST(NameGroup, tells_containers_services_and_the_rest_apart) {
  const std::string uid = "0a1b2c3d-1111-2222-3333-444455556666";
  const std::string flat_uid = "0a1b2c3d_1111_2222_3333_444455556666";
  const std::vector<Case> cases = {
      {"/docker/" + kId, GroupKind::container, kId, "docker", ""},
      {"/system.slice/docker-" + kId + ".scope", GroupKind::container, kId, "docker", ""},
      {"/machine.slice/libpod-" + kId + ".scope", GroupKind::container, kId, "podman", ""},
      {"/machine.slice/libpod-conmon-" + kId + ".scope", GroupKind::other,
       "libpod-conmon-" + kId + ".scope", "", ""},
      {"/kubepods/burstable/pod" + uid + "/" + kId, GroupKind::container, kId, "", uid},
      {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + flat_uid +
           ".slice/cri-containerd-" + kId + ".scope",
       GroupKind::container, kId, "containerd", uid},
      {"/kubepods.slice/kubepods-pod" + flat_uid + ".slice/crio-" + kId + ".scope",
       GroupKind::container, kId, "cri-o", uid},
      {"/kubepods/burstable/pod" + uid, GroupKind::other, "pod" + uid, "", ""},
      {"/system.slice/ssh.service", GroupKind::service, "ssh.service", "", ""},
      {"/system.slice", GroupKind::other, "system.slice", "", ""},
      {"/docker/" + kId + "/system.slice/inner.service", GroupKind::other, "inner.service", "", ""},
      {"/assay-20260131-120000-7f3a-1.12-34", GroupKind::run, "assay-20260131-120000-7f3a-1.12-34",
       "", ""},
      {"/docker/" + kId.substr(1), GroupKind::other, kId.substr(1), "", ""},
      {"", GroupKind::other, "", "", ""},
  };
  for (const auto& expected : cases) {
    const GroupName name = name_group(expected.path);
    EXPECT_EQ(name.kind, expected.kind) << expected.path;
    EXPECT_EQ(name.id, expected.id) << expected.path;
    EXPECT_EQ(name.runtime, expected.runtime) << expected.path;
    EXPECT_EQ(name.pod_uid, expected.pod_uid) << expected.path;
  }
}

}  // namespace
}  // namespace assay::agent
