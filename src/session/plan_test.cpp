// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <assay/base/files.h>
#include <assay/session/session.h>
#include <gtest/gtest.h>

namespace assay::session {
namespace {

namespace fs = std::filesystem;

std::string errors_of(const Spec& spec) {
  std::string text;
  for (const auto& error : make_plan(spec).errors) text += error.text() + "\n";
  return text;
}

TEST(Plan, tells_everything_that_is_missing_with_its_place) {
  const auto result = parse_spec(R"(command: "true"
profiling:
  dataset: /no/data
  targets:
    - {command: no-such-command}
    - workdir: /no/folder
)",
                                 "s.yaml");
  EXPECT_EQ(errors_of(result.spec.value()),
            "s.yaml:5: no such command: no-such-command; install it, or give its path\n"
            "s.yaml:3: the dataset /no/data is not there\n"
            "s.yaml:6: the folder to run in does not exist: /no/folder\n");
}

TEST(Plan, of_a_draft_tells_what_can_be_told_and_makes_nothing_up) {
  const auto result =
      parse_spec("name: a\nprofiling:\n  comand: x\n  dataset: /no/data\n", "s.yaml");
  ASSERT_FALSE(result.spec);
  EXPECT_EQ(errors_of(result.draft), "s.yaml:4: the dataset /no/data is not there\n");
}

TEST(Plan, refuses_limits_where_no_control_group_is_wanted) {
  const auto result =
      parse_spec("name: a\ncommand: 'true'\nprofiling: {resources: {pids: 9}}\n", "s.yaml");
  const Plan plan = make_plan(result.spec.value(), false);
  ASSERT_EQ(plan.errors.size(), 1U);
  EXPECT_EQ(plan.errors.front().text().substr(0, 55),
            "s.yaml:3: limits need a control group: drop --no-cgroup");
  EXPECT_EQ(plan.errors.front().kind, ErrorKind::input);
}

TEST(Plan, names_the_file_of_a_command_beside_a_profile) {
  const auto result =
      parse_spec("name: a\ncommand: no-such-command\n", "s.yaml", "dataset: /no/data\n", "p.yaml");
  EXPECT_EQ(errors_of(result.spec.value()),
            "s.yaml:2: no such command: no-such-command; install it, or give its path\n"
            "p.yaml:1: the dataset /no/data is not there\n");
}

TEST(Plan, for_a_cluster_needs_one) {
  const auto result = parse_spec(
      "image: a/b:1\nprofiling:\n  targets:\n    - {runtime: kubernetes}\n    - {command: x}\n",
      "s.yaml");
  const std::string errors = errors_of(result.spec.value());
  EXPECT_NE(errors.find("s.yaml:4: kubernetes is for `assay run`, which knows the cluster"),
            std::string::npos)
      << errors;
  EXPECT_NE(errors.find("some targets are for kubernetes and others for this machine"),
            std::string::npos)
      << errors;
}

TEST(Plan, numbers_targets_that_no_file_tells_apart) {
  Spec spec = spec_for_command({"no-such-command"});
  EXPECT_EQ(errors_of(spec), "no such command: no-such-command; install it, or give its path\n");
  spec.targets.push_back(spec.targets[0]);
  EXPECT_EQ(errors_of(spec),
            "target 1: no such command: no-such-command; install it, or give its path\n"
            "target 2: no such command: no-such-command; install it, or give its path\n");
}

TEST(Plan, keeps_secrets_out_of_what_it_tells) {
  Spec spec = spec_for_command({"https://u:hunter2@h/x"});
  spec.targets[0].dataset = "rtsp://u:hunter2@cam/1";
  EXPECT_EQ(
      errors_of(spec),
      "no such command: https://u:***@h/x; install it, or give its path\n"
      "the dataset rtsp://cam/1 has an address of a kind we cannot fetch; use https://, s3:// or "
      "a path\n");
}

TEST(Plan, looks_for_the_command_along_the_apps_own_path) {
  const fs::path folder = fs::path(::testing::TempDir()) / "assay_plan_path";
  fs::create_directories(folder / "tools");
  ASSERT_TRUE(write_file(folder / "tools" / "own-tool", "#!/bin/sh\n"));
  fs::permissions(folder / "tools" / "own-tool", fs::perms::owner_all);
  Spec spec = spec_for_command({"own-tool"});
  EXPECT_NE(errors_of(spec), "");
  spec.targets[0].env["PATH"] = (folder / "tools").string();
  EXPECT_EQ(errors_of(spec), "");
  spec.targets[0].env["PATH"] = "tools";
  spec.targets[0].workdir = folder.string();
  EXPECT_EQ(errors_of(spec), "");
  spec.targets[0].command = {"true"};
  EXPECT_NE(errors_of(spec), "");
  fs::remove_all(folder);
}

TEST(Plan, tells_a_file_that_may_not_be_run_from_one_that_is_not_there) {
  const fs::path folder = fs::path(::testing::TempDir()) / "assay_plan_script";
  fs::create_directories(folder);
  ASSERT_TRUE(write_file(folder / "stream.py", ""));
  ASSERT_TRUE(write_file(folder / "tool", ""));
  Spec spec = spec_for_command({"./stream.py"});
  spec.targets[0].workdir = folder.string();
  EXPECT_EQ(
      errors_of(spec),
      "./stream.py is not executable; run chmod +x ./stream.py, or say python3 ./stream.py\n");
  spec.targets[0].command = {"./tool"};
  EXPECT_EQ(errors_of(spec), "./tool is not executable; run chmod +x ./tool\n");
  spec.targets[0].command = {"./gone"};
  EXPECT_EQ(errors_of(spec), "no such command: ./gone; install it, or give its path\n");
  fs::remove_all(folder);
}

TEST(Plan, document_has_targets_without_their_secrets) {
  Spec spec = spec_for_command({"true"});
  spec.targets[0].timeout = std::chrono::seconds(5);
  spec.targets[0].repeat = 2;
  spec.targets[0].env["API_TOKEN"] = "abc123";
  const Json json = plan_document(spec, make_plan(spec));
  EXPECT_EQ(json["runs"], 2);
  EXPECT_EQ(json["longest_seconds"], 10);
  EXPECT_EQ(json["targets"][0]["env"]["API_TOKEN"], "***");
}

TEST(Plan, describes_what_a_container_gets) {
  const auto result = parse_spec(R"(image: a/b:1
profiling:
  runtime: docker
  docker_args: "-e API_TOKEN=abc123 -i"
  dataset: /no/data
  playback:
    - {id: top_live, files: "cam1/*.jpg", fps: 10, loop: false}
    - {id: mic, type: audio}
  needs:
    - {name: broker, image: "rabbitmq:3", ready: {port: 5672, log: started, timeout: 30s}}
    - {name: model, image: "m:1", command: serve --fast}
  resources: {gpus: 2, network: {rate: 500kbit, delay: 80ms, loss: 1%}}
)",
                                 "s.yaml");
  const std::string text = describe_plan(result.spec.value(), Plan());
  EXPECT_NE(text.find(R"(  image     a/b:1
  runtime   docker
  docker    -e 'API_TOKEN=***' -i
  dataset   /no/data
  playback  top_live: video at 10 fps of cam1/*.jpg, once
  playback  mic: audio
  needs     broker: rabbitmq:3, awaited by port 5672 and "started" in its log for 30 s
  needs     model: m:1 serve --fast
)"),
            text.npos)
      << text;
  EXPECT_NE(text.find("  limits    2 GPUs, a network of 500 kbit/s, 80 ms delay, 1 % loss\n"),
            text.npos)
      << text;
}

TEST(SpecForCommand, is_named_after_the_script_rather_than_its_interpreter) {
  const auto name = [](const std::vector<std::string>& command) {
    return spec_for_command(command).app.name;
  };
  EXPECT_EQ(name({"/usr/bin/python3.11", "-u", "apps/count.py", "--fast"}), "count.py");
  EXPECT_EQ(name({"python3", "-m", "http.server"}), "http.server");
  EXPECT_EQ(name({"python3", "-c", "print(1)"}), "python3");
  EXPECT_EQ(name({"sh", "run.sh"}), "run.sh");
  EXPECT_EQ(name({"/opt/detector", "x.py"}), "detector");
}

}  // namespace
}  // namespace assay::session
