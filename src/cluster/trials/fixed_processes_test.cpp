// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <assay/cluster/trial_manifest.h>
#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

std::string fixed_by(const std::string& command) {
  const auto source = read_trial_source(
      fmt::format(
          "apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\n"
          "spec: {{containers: [{{name: first, image: i}}, {{name: main, image: i, {}}}]}}\n",
          command),
      "pod.yaml");
  EXPECT_TRUE(source) << (source ? "" : source.error().message);
  return source ? fixed_processes(*source) : "";
}

TEST(FixedProcesses, are_found_as_words_behind_an_equals_sign_and_within_a_shells_text) {
  EXPECT_EQ(fixed_by("command: [mpirun, -np, '8', train]"), "-np 8");
  EXPECT_EQ(fixed_by("command: [/usr/bin/mpiexec, -n, '2', train]"), "-n 2");
  EXPECT_EQ(fixed_by("command: [torchrun], args: [--nproc_per_node=4, train.py]"),
            "--nproc_per_node=4");
  EXPECT_EQ(fixed_by("command: [sh, -c, 'cd /data && mpirun -x A -np 16 ./model']"), "-np 16");
}

TEST(FixedProcesses, are_none_where_the_number_is_not_fixed_or_means_something_else) {
  EXPECT_EQ(fixed_by("command: [mpirun, -np, $(ASSAY_TRIAL_GPUS), train]"), "");
  EXPECT_EQ(fixed_by("command: [torchrun, --nproc_per_node=gpu, train.py]"), "");
  EXPECT_EQ(fixed_by("command: [head, -n, '5', file]"), "");
  EXPECT_EQ(fixed_by("command: [mpirun, -x, A, ./train, -n, '100']"), "");
  EXPECT_EQ(fixed_by("command: [sh, -c, 'mpirun ./x; tail -n 5 log']"), "");
  EXPECT_EQ(fixed_by("command: [mpirun, -np]"), "");
  EXPECT_EQ(fixed_by("tty: true"), "");
  EXPECT_EQ(fixed_by("command: [1, {a: b}], args: -np 8"), "");
}

}  // namespace
}  // namespace assay::cluster
