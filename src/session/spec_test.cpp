// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <assay/base/files.h>
#include <assay/session/spec.h>
#include <gtest/gtest.h>

namespace assay::session {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using std::chrono::minutes;
using std::chrono::seconds;

std::string all_errors(const SpecResult& result) {
  std::string text;
  for (const auto& error : result.errors) text += error.text() + "\n";
  return text;
}

Spec parsed(const std::string& text) {
  const auto result = parse_spec(text, "sage.yaml");
  EXPECT_EQ(all_errors(result), "");
  return result.spec.value_or(Spec());
}

TEST(Spec, reads_what_scientists_already_write) {
  const auto spec = parsed(R"(name: objcounter
namespace: waggle
version: "0.0.0"
profiling:
  targets:
    - {args: "-interval 1 --use-gpu", timeout: 120}
    - {args: "--use-cpu", timeout: 0}        # 0: until it exits by itself
  metrics: ['system', 'gpu-summary']
)");
  EXPECT_EQ(spec.app.full_name(), "waggle/objcounter:0.0.0");
  EXPECT_EQ(spec.app.image, "waggle/objcounter:0.0.0");
  ASSERT_EQ(spec.targets.size(), 2U);
  EXPECT_EQ(spec.targets[0].image, "waggle/objcounter:0.0.0");
  EXPECT_EQ(spec.targets[0].command, (Words{"-interval", "1", "--use-gpu"}));
  EXPECT_EQ(spec.targets[0].timeout, seconds(120));
  EXPECT_EQ(spec.targets[0].metrics, (Words{"system", "gpu-summary"}));
  EXPECT_EQ(spec.targets[1].command, Words{"--use-cpu"});
  EXPECT_EQ(spec.targets[1].timeout, seconds(0));
}

TEST(Spec, fills_in_defaults) {
  const auto target = parsed("command: sleep 1\n").targets.at(0);
  EXPECT_EQ(target.image, "");
  EXPECT_EQ(target.workdir, "");
  EXPECT_EQ(target.timeout, seconds(0));
  EXPECT_EQ(target.warmup, seconds(0));
  EXPECT_EQ(target.interval, Milliseconds(100));
  EXPECT_EQ(target.grace, seconds(10));
  EXPECT_EQ(target.repeat, 1);
  EXPECT_EQ(target.metrics, (Words{"system", "power"}));
  EXPECT_TRUE(target.limits.empty());
  EXPECT_TRUE(target.goals.empty());
}

TEST(Spec, reads_every_key_of_a_real_file) {
  const fs::path file = fs::path(ASSAY_TESTDATA) / "full.sage.yaml";
  const auto result = read_spec(file);
  ASSERT_EQ(all_errors(result), "");
  EXPECT_EQ(result.spec->app.full_name(), "hydrology/snow-depth:1.4.2");
  EXPECT_EQ(result.spec->app.image, "");
  ASSERT_EQ(result.spec->targets.size(), 3U);

  const auto& plain = result.spec->targets[0];
  EXPECT_EQ(plain.command, (Words{"python3", "app.py", "--weights", "best model.onnx"}));
  EXPECT_EQ(plain.env,
            (std::map<std::string, std::string>{{"LOG_LEVEL", "warning"}, {"THREADS", "4"}}));
  EXPECT_EQ(plain.workdir, std::string(ASSAY_TESTDATA) + "/app");
  EXPECT_EQ(plain.dataset, std::string(ASSAY_TESTDATA) + "/data/winter");
  EXPECT_EQ(plain.warmup, seconds(5));
  EXPECT_EQ(plain.repeat, 3);
  EXPECT_EQ(plain.interval, Milliseconds(50));
  EXPECT_EQ(plain.grace, seconds(3));
  EXPECT_EQ(plain.timeout, minutes(2));
  EXPECT_EQ(plain.metrics, (Words{"system", "power"}));
  EXPECT_EQ(plain.limits.cpus, 2);
  EXPECT_EQ(plain.limits.memory_bytes, 1U << 30U);
  EXPECT_EQ(plain.limits.pids, 256U);
  ASSERT_EQ(plain.goals.size(), 2U);
  EXPECT_EQ(plain.goals[0].text, "fps >= 10");
  EXPECT_EQ(plain.goals[1].text, "latency.p95 <= 200ms");
}

TEST(Spec, lays_a_target_over_the_session) {
  const auto result = read_spec(fs::path(ASSAY_TESTDATA) / "full.sage.yaml");
  ASSERT_EQ(all_errors(result), "");
  const auto& small = result.spec->targets[1];
  EXPECT_EQ(small.command, (Words{"python3", "app.py", "--weights", "best model.onnx", "--size",
                                  "320", "--half"}));
  EXPECT_EQ(small.env,
            (std::map<std::string, std::string>{{"LOG_LEVEL", "warning"}, {"THREADS", "1"}}));
  EXPECT_EQ(small.limits.cpus, 0.5);
  EXPECT_EQ(small.limits.memory_bytes, 1U << 30U);
  EXPECT_EQ(small.repeat, 1);
  ASSERT_EQ(small.goals.size(), 2U);
  EXPECT_EQ(small.goals[0].text, "latency.p95 <= 200ms");
  EXPECT_EQ(small.goals[1].text, "fps >= 4 fps");

  const auto& other = result.spec->targets[2];
  EXPECT_EQ(other.command, (Words{"python3", "other.py", "--size", "640", "--title", "two words"}));
  EXPECT_EQ(other.metrics, (Words{"system", "stacks"}));
  EXPECT_EQ(other.timeout, seconds(0));
  EXPECT_EQ(other.workdir, "/srv");
}

TEST(Spec, splits_words_without_a_shell) {
  const auto spec = parsed(R"(command: ./run 'a b' $HOME *.txt c|d
profiling:
  args: --title "it's \"big\"" x\ y
)");
  EXPECT_EQ(spec.targets[0].command,
            (Words{"./run", "a b", "$HOME", "*.txt", "c|d", "--title", "it's \"big\"", "x y"}));
  EXPECT_EQ(parsed("command: [one word, '']\n").targets[0].command, (Words{"one word", ""}));
}

TEST(Spec, runs_what_is_named_nearest_to_the_target) {
  const auto image = parsed("name: a\nnamespace: n\nversion: 1.0\nimage: other/b:2\n");
  EXPECT_EQ(image.targets[0].image, "other/b:2");
  EXPECT_EQ(image.app.full_name(), "n/a:1.0");
  const auto nameless = parsed("image: other/b:2\n");
  EXPECT_EQ(nameless.app.full_name(), "other/b:2");
  const auto both = parsed("image: other/b:2\ncommand: serve\nprofiling: {args: --fast}\n");
  EXPECT_EQ(both.targets[0].image, "other/b:2");
  EXPECT_EQ(both.targets[0].command, (Words{"serve", "--fast"}));
  const auto process = parsed("image: other/b:2\ncommand: serve\nprofiling: {runtime: process}\n");
  EXPECT_EQ(process.targets[0].image, "");
  const auto command = parsed("command: /usr/bin/serve -v\n");
  EXPECT_EQ(command.app.full_name(), "serve");
  const auto mixed = parsed("name: a\nprofiling: {targets: [{command: x}, {}]}\n");
  EXPECT_EQ(mixed.targets[0].image, "");
  EXPECT_EQ(mixed.targets[1].image, "a");
}

TEST(Spec, ignores_what_belongs_to_others) {
  const auto spec = parsed(R"(name: Sage Performance
version: ""
homepage:
resources: [{type: camera}]
date: today
x-notes: {timout: 1}
keywords: a
keywords: b
tests: {}
app_meta: ~
command: run
? [odd]
: key
)");
  EXPECT_EQ(spec.app.full_name(), "Sage Performance");
}

TEST(Spec, runs_a_process_in_the_folder_of_its_file) {
  const fs::path file = fs::path(ASSAY_TESTDATA) / "command.yaml";
  const auto result = read_spec(file);
  ASSERT_EQ(all_errors(result), "");
  EXPECT_EQ(result.spec->targets[0].workdir, ASSAY_TESTDATA);
  EXPECT_EQ(result.spec->targets[1].workdir, ASSAY_TESTDATA);
  EXPECT_EQ(result.spec->targets[2].workdir, fs::path(ASSAY_TESTDATA).parent_path());
  EXPECT_EQ(result.spec->targets[2].dataset, "rtsp://camera/stream");
}

TEST(Profile, takes_the_place_of_the_apps_own_section) {
  const std::string app = "name: a\ncommand: run\nprofiling: {timeout: wrong, repeat: 9}\n";
  for (const std::string profile : {"profiling:\n  timeout: 5\nname: mine\n", "timeout: 5\n"}) {
    const auto result = parse_spec(app, "sage.yaml", profile, "profile.yaml");
    ASSERT_EQ(all_errors(result), "") << profile;
    EXPECT_EQ(result.spec->app.name, "a");
    EXPECT_EQ(result.spec->targets[0].command, Words{"run"});
    EXPECT_EQ(result.spec->targets[0].timeout, seconds(5));
    EXPECT_EQ(result.spec->targets[0].repeat, 1);
  }
}

TEST(Profile, starts_its_paths_from_its_own_folder) {
  const fs::path app = fs::path(ASSAY_TESTDATA) / "command.yaml";
  const auto result = read_spec(app, fs::path(ASSAY_TESTDATA) / "profiles" / "short.yaml");
  ASSERT_EQ(all_errors(result), "");
  EXPECT_EQ(result.spec->targets[0].dataset, std::string(ASSAY_TESTDATA) + "/profiles/frames");
  EXPECT_EQ(result.spec->targets[0].workdir, ASSAY_TESTDATA);
}

TEST(SpecForCommand, is_one_target) {
  const auto spec = spec_for_command({"/usr/bin/sleep", "5"});
  EXPECT_EQ(spec.app.full_name(), "sleep");
  ASSERT_EQ(spec.targets.size(), 1U);
  EXPECT_EQ(spec.targets[0].command, (Words{"/usr/bin/sleep", "5"}));
  EXPECT_EQ(spec.targets[0].image, "");
}

TEST(SpecForCommand, takes_how_to_run_it_from_a_profile_and_not_what) {
  const fs::path profile = fs::path(::testing::TempDir()) / "assay_profile.yaml";
  ASSERT_TRUE(write_file(profile,
                         "command: other\ntimeout: 5\ndataset: frames\n"
                         "targets: [{args: --fast}, {image: a/b:1, command: third}]\n"));
  const auto result = spec_for_command({"python3", "app.py"}, profile);
  ASSERT_TRUE(result.spec) << result.errors[0].text();
  EXPECT_EQ(result.spec->app.name, "app.py");
  const auto& targets = result.spec->targets;
  ASSERT_EQ(targets.size(), 2U);
  EXPECT_EQ(targets[0].command, (std::vector<std::string>{"python3", "app.py", "--fast"}));
  EXPECT_EQ(targets[1].command, (std::vector<std::string>{"python3", "app.py"}));
  EXPECT_EQ(targets[1].image, "");
  EXPECT_EQ(targets[1].timeout, std::chrono::seconds(5));
  EXPECT_EQ(targets[0].dataset, (profile.parent_path() / "frames").string());
  EXPECT_EQ(targets[0].workdir, "") << "a command starts where it is typed";
  fs::remove(profile);
}

TEST(SpecForProcess, is_named_after_its_command_without_secrets) {
  const fs::path machine = fs::path(::testing::TempDir()) / "assay_spec_for_process";
  const auto put = [&](const std::string& file, const std::string& text) {
    fs::create_directories((machine / file).parent_path());
    ASSERT_TRUE(write_file(machine / file, text));
  };
  using namespace std::string_literals;
  put("proc/7/stat", "7 (python3) S 1");
  put("proc/7/cmdline", "/usr/bin/python3\0apps/count.py\0--token\0abc123\0"s);
  put("proc/8/stat", "8 (odd) Z name) Z 1");
  put("proc/9/stat", "9 (kworker) I 2");
  put("proc/9/cmdline", "");
  put("proc/9/comm", "kworker/0:1\n");
  const auto spec = spec_for_process(7, SysRoot(machine));
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->app.name, "count.py");
  EXPECT_EQ(masked(spec->targets[0]).command,
            (std::vector<std::string>{"/usr/bin/python3", "apps/count.py", "--token", "***"}));
  EXPECT_EQ(spec_for_process(8, SysRoot(machine)).error().message,
            "process 8 has ended; it is only listed until its parent asks for it");
  EXPECT_EQ(spec_for_process(9, SysRoot(machine))->targets[0].command.front(), "kworker/0:1");
  EXPECT_EQ(spec_for_process(10, SysRoot(machine))->app.name, "pid-10");
  fs::remove_all(machine);
}

TEST(SpecForImage, names_the_app_after_the_image) {
  const std::pair<const char*, const char*> cases[] = {
      {"waggle/objcounter:0.1.0", "waggle/objcounter:0.1.0"},
      {"objcounter", "objcounter"},
      {"host.example:5000/waggle/objcounter:2", "waggle/objcounter:2"},
      {"localhost/a/b/c", "a/b/c"},
      {"a/b@sha256:00ff", "a/b:sha256:00ff"},
  };
  for (const auto& [image, name] : cases) {
    const auto result = spec_for_image(image, std::nullopt);
    ASSERT_EQ(all_errors(result), "") << image;
    EXPECT_EQ(result.spec->app.full_name(), name);
    EXPECT_EQ(result.spec->app.image, image);
    EXPECT_EQ(result.spec->targets[0].image, image);
  }
}

TEST(SpecForImage, takes_the_rest_from_the_profile) {
  const auto result = spec_for_image("a/b:1", fs::path(ASSAY_TESTDATA) / "profiles" / "short.yaml");
  ASSERT_EQ(all_errors(result), "");
  EXPECT_EQ(result.spec->targets[0].image, "a/b:1");
  EXPECT_EQ(result.spec->targets[0].timeout, seconds(5));
  EXPECT_EQ(result.spec->targets[0].workdir, "");
}

TEST(SpecForImage, says_what_an_image_looks_like) {
  EXPECT_EQ(all_errors(spec_for_image("no image", std::nullopt)),
            "command line: 'no image' is not an image; write namespace/name:version\n");
}

}  // namespace
}  // namespace assay::session
