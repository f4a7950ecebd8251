// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <assay/base/files.h>
#include <assay/session/spec.h>
#include <gtest/gtest.h>

namespace assay::session {
namespace {

using std::chrono::seconds;
using Words = std::vector<std::string>;

Spec two_targets() {
  return parse_spec(R"(command: run
profiling:
  timeout: 60
  warmup: 10
  env: {A: 1}
  goals: [fps >= 10, latency < 1s]
  resources: {cpus: 2, memory: 1GB}
  targets: [{}, {timeout: 30}]
)",
                    "s.yaml")
      .spec.value();
}

TEST(Overrides, say_nothing_by_default) {
  auto spec = two_targets();
  ASSERT_TRUE(apply(Overrides(), spec));
  EXPECT_EQ(spec.targets[0].timeout, seconds(60));
  EXPECT_EQ(spec.targets[1].timeout, seconds(30));
  EXPECT_EQ(spec.targets[1].goals.size(), 2U);
}

TEST(Overrides, win_over_every_target) {
  Overrides overrides;
  overrides.timeout = seconds(20);
  overrides.interval = Milliseconds(10);
  overrides.warmup = seconds(1);
  overrides.grace = seconds(2);
  overrides.repeat = 4;
  overrides.metrics = Words{"system", "system", "stacks"};
  overrides.goals = {"fps >= 5", "memory_bytes.peak < 1GB"};
  overrides.env = {{"A", "2"}, {"B", "3"}};
  overrides.cpus = "0.5";
  overrides.pids = "64";
  auto spec = two_targets();
  ASSERT_TRUE(apply(overrides, spec));
  for (const auto& target : spec.targets) {
    EXPECT_EQ(target.timeout, seconds(20));
    EXPECT_EQ(target.interval, Milliseconds(10));
    EXPECT_EQ(target.warmup, seconds(1));
    EXPECT_EQ(target.grace, seconds(2));
    EXPECT_EQ(target.repeat, 4);
    EXPECT_EQ(target.metrics, (Words{"system", "stacks"}));
    EXPECT_EQ(target.env, (std::map<std::string, std::string>{{"A", "2"}, {"B", "3"}}));
    EXPECT_EQ(target.limits.cpus, 0.5);
    EXPECT_EQ(target.limits.memory_bytes, 1'000'000'000U);
    EXPECT_EQ(target.limits.pids, 64U);
    ASSERT_EQ(target.goals.size(), 3U);
    EXPECT_EQ(target.goals[0].text, "latency < 1s");
    EXPECT_EQ(target.goals[1].text, "fps >= 5");
    EXPECT_EQ(target.goals[2].text, "memory_bytes.peak < 1GB");
  }
}

TEST(Overrides, tell_all_errors_with_their_option_and_change_nothing) {
  Overrides overrides;
  overrides.grace = seconds(99);
  overrides.interval = Milliseconds(1);
  overrides.repeat = 0;
  overrides.metrics = Words{"sytem"};
  overrides.goals = {"fps"};
  overrides.env = {{"a b", "2"}};
  overrides.cpus = "many";
  overrides.memory = "5XB";
  overrides.pids = "-1";
  auto spec = two_targets();
  const auto applied = apply(overrides, spec);
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().kind, ErrorKind::input);
  EXPECT_EQ(applied.error().message,
            "--interval: 1 ms is out of range; choose 10ms to 1m (a bare number is in seconds)\n"
            "--repeat: 0 is out of range; choose 1 to 1000\n"
            "--metrics: unknown metrics 'sytem'; did you mean 'system'?\n"
            "--cpus: 'many' is not a number of CPU cores; write for example 2, 0.5 or 500m\n"
            "--memory: '5XB' is not a size; write for example 512MB or 2GiB\n"
            "--pids: '-1' is not a number of processes; choose 1 to 4194304\n"
            "--env: 'a b' is not a variable's name; use letters, digits and _, and no digit first\n"
            "--goal: goal 'fps' compares nothing; use <, <=, > or >=, as in \"fps >= 10\"");
  EXPECT_EQ(spec.targets[0].grace, seconds(10));
}

TEST(Overrides, say_how_a_container_runs) {
  Overrides overrides;
  overrides.runtime = "docker";
  overrides.docker_args = "-e 'A=two words'";
  overrides.dataset = "https://h/x.zip";
  overrides.gpus = "0,1";
  Spec spec = spec_for_image("a/b:1", std::nullopt).spec.value();
  spec.targets[0].docker_args = {"-i"};
  spec.targets[0].dataset_sha256 = "00";
  ASSERT_TRUE(apply(overrides, spec));
  const Target& target = spec.targets[0];
  EXPECT_EQ(target.runtime, "docker");
  EXPECT_EQ(target.docker_args, (Words{"-e", "A=two words"}));
  EXPECT_EQ(target.dataset, "https://h/x.zip");
  EXPECT_EQ(target.dataset_sha256, "");
  EXPECT_EQ(target.limits.gpus, "0,1");
}

TEST(Overrides, start_a_path_from_the_current_folder) {
  Overrides overrides;
  overrides.dataset = "winter/";
  Spec spec = spec_for_command({"true"});
  ASSERT_TRUE(apply(overrides, spec));
  EXPECT_EQ(spec.targets[0].dataset, (std::filesystem::current_path() / "winter").string());
}

TEST(Overrides, for_containers_are_refused_for_a_process) {
  Overrides overrides;
  overrides.runtime = "docker";
  overrides.docker_args = "-i";
  overrides.gpus = "all";
  auto spec = two_targets();
  EXPECT_EQ(apply(overrides, spec).error().message,
            "--runtime: docker needs an image; name one instead of a command\n"
            "--docker-args: needs a container; name an image, or leave it out\n"
            "--gpus: needs a container; name an image, or leave it out");
  overrides = Overrides();
  overrides.runtime = "process";
  spec = spec_for_image("a/b:1", std::nullopt).spec.value();
  EXPECT_EQ(apply(overrides, spec).error().message,
            "--runtime: process needs a command; give one instead of an image");
}

TEST(Overrides, of_containers_are_checked) {
  Overrides overrides;
  overrides.runtime = "dokcer";
  overrides.docker_args = "--volum=a:/b";
  overrides.gpus = "some";
  Spec spec = spec_for_image("a/b:1", std::nullopt).spec.value();
  EXPECT_EQ(apply(overrides, spec).error().message,
            "--runtime: unknown runtime 'dokcer'; did you mean 'docker'?\n"
            "--docker-args: docker argument '--volum' is not known here; did you mean --volume?\n"
            "--gpus: 'some' is not a choice of GPUs; write all, a number as in 1, or ids as in "
            "\"0,1\"");
}

TEST(Overrides, of_runtime_and_dataset_decide_how_a_file_is_read) {
  const auto file = std::filesystem::path(::testing::TempDir()) / "assay_overridden.yaml";
  ASSERT_TRUE(write_file(file,
                         "name: a\nimage: a/b:1\ncommand: run\nprofiling:\n"
                         "  playback: {id: top}\n"));
  Overrides overrides;
  EXPECT_EQ(read_spec(file).errors.at(0).message,
            "playback: there is no dataset to play; add \"dataset: …\"");
  overrides.runtime = "process";
  overrides.dataset = "/data";
  auto result = read_spec(file, std::nullopt, overrides);
  ASSERT_TRUE(result.spec);
  ASSERT_TRUE(apply(overrides, *result.spec));
  EXPECT_EQ(result.spec->targets[0].image, "");
  EXPECT_EQ(result.spec->targets[0].runtime, "process");
  EXPECT_EQ(result.spec->targets[0].command, Words{"run"});
  EXPECT_EQ(result.spec->targets[0].workdir, file.parent_path());
  EXPECT_EQ(result.spec->targets[0].dataset, "/data");
  std::filesystem::remove(file);
}

TEST(Overrides, blame_no_option_that_was_not_given) {
  const auto result = parse_spec("command: x\nprofiling: {timeout: 5, warmup: 10}\n", "s.yaml");
  ASSERT_EQ(result.errors.size(), 1U);
  auto draft = result.draft;
  EXPECT_TRUE(apply(Overrides(), draft));
}

TEST(Overrides, may_not_leave_a_run_without_time_to_measure) {
  Overrides overrides;
  overrides.timeout = seconds(5);
  auto spec = two_targets();
  EXPECT_EQ(
      apply(overrides, spec).error().message,
      "--timeout: the warm-up of 10 s leaves nothing of the timeout of 5 s to measure; make the "
      "warmup shorter");
}

}  // namespace
}  // namespace assay::session
