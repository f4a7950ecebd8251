// SPDX-License-Identifier: Apache-2.0
#include <assay/session/spec.h>
#include <gtest/gtest.h>

namespace assay::session {
namespace {

std::string all_errors(const SpecResult& result) {
  EXPECT_EQ(result.spec.has_value(), result.errors.empty());
  std::string text;
  for (const auto& error : result.errors) text += error.text() + "\n";
  return text;
}

std::string errors_of(const std::string& text) {
  return all_errors(parse_spec(text, "s.yaml"));
}

/// The errors of one line in a profiling section, which is the file's third.
std::string errors_in_profiling(const std::string& line) {
  return errors_of("command: run\nprofiling:\n  " + line + "\n");
}

TEST(SpecErrors, come_all_at_once_in_the_order_of_lines) {
  EXPECT_EQ(errors_of(R"(name: a
profilng: {}
profiling:
  interval: 1ms
  targets:
    - {args: "--fast", timout: 120}
    - args: "open 'quote"
      timeout: 5 parsecs
      repeat: 0
      env: {1ST: x}
  metrics: [system, gpu-sumary]
  goals: {fps: 10}
)"),
            R"(s.yaml:2: unknown key 'profilng'; did you mean 'profiling'?
s.yaml:4: interval: 1 ms is out of range; choose 10ms to 1m (a bare number is in seconds)
s.yaml:6: unknown key 'timout'; did you mean 'timeout'?
s.yaml:7: args: a quote or a backslash at the end is left open in 'open 'quote'; close it, or give a list of words
s.yaml:8: timeout: '5 parsecs' is not a duration; write for example 500ms, 90s or 2m
s.yaml:9: repeat: 0 is out of range; choose 1 to 1000
s.yaml:10: env: '1ST' is not a variable's name; use letters, digits and _, and no digit first
s.yaml:11: metrics: unknown metrics 'gpu-sumary'; did you mean 'gpu-summary'?
s.yaml:12: goals: goal 'fps 10' compares nothing; use <, <=, > or >=, as in "fps >= 10"
)");
}

struct Case {
  const char* line;
  const char* error;
};

class SpecError : public testing::TestWithParam<Case> {};

TEST_P(SpecError, says_what_is_wrong_and_what_to_do) {
  EXPECT_EQ(errors_in_profiling(GetParam().line),
            std::string("s.yaml:3: ") + GetParam().error + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    Types, SpecError,
    testing::Values(
        Case{"timeout: [1]",
             "timeout: must be a duration, not a list; write for example 120 (seconds), 500ms or "
             "2m"},
        Case{"warmup: {}",
             "warmup: must be a duration, not a map; write for example 120 (seconds), 500ms or 2m"},
        Case{
            "grace:",
            "grace: must be a duration, not nothing; write for example 120 (seconds), 500ms or 2m"},
        Case{"repeat: [1]", "repeat: must be a whole number, not a list; write for example 3"},
        Case{"args: {a: b}",
             "args: must be text or a list of words, not a map; write for example \"--size 640 "
             "--fast\" or [--size, 640, --fast]"},
        Case{"args: [a, [b]]",
             "args: must be a list of words, not a list; write for example \"--size 640 --fast\" "
             "or [--size, 640, --fast]"},
        Case{"workdir: [a]", "workdir: must be text, not a list; write for example \"workdir: x\""},
        Case{"env: text",
             "env: must be a map or a list, not text; write for example {LEVEL: debug} or "
             "[LEVEL=debug]"},
        Case{"env: {A: [1]}",
             "env: must be a map of names to text, not a list; write for example {LEVEL: debug} or "
             "[LEVEL=debug]"},
        Case{"env: {A: }",
             "env: must be a map of names to text, not nothing; write for example {LEVEL: debug} "
             "or [LEVEL=debug]"},
        Case{"env: [[A]]",
             "env: must be a list of NAME=VALUE, not a list; write for example {LEVEL: debug} or "
             "[LEVEL=debug]"},
        Case{"goals:",
             "goals: must be a map or a list, not nothing; write for example {fps: \">= 10\"}"},
        Case{"goals: {fps: [1]}",
             "goals: must be text with a comparison, not a list; write for example \">= 10\""},
        Case{"goals: [{a: b}]",
             "goals: must be a list of comparisons, not a map; write for example [fps >= 10]"},
        Case{"metrics: {a: b}",
             "metrics: must be a list of names, not a map; write for example [system, power]"},
        Case{"resources: 5",
             "resources: must be a map, not text; write for example {cpus: 2, memory: 512MB}"},
        Case{"resources: {memory: [1]}",
             "memory: must be a number, not a list; write for example 512MB"},
        Case{"runtime: [a]", "runtime: must be a name, not a list; write for example process"},
        Case{"targets: {a: b}",
             "targets: must be a list with at least one entry, not a map; write for example \"- "
             "{args: --fast, timeout: 60}\", or remove the key"},
        Case{"targets: []",
             "targets: must be a list with at least one entry, not an empty one; write for example "
             "\"- {args: --fast, timeout: 60}\", or remove the key"},
        Case{"targets: [fast]",
             "target 1 must be a map, not text; write for example {args: \"--fast\", timeout: "
             "60}"}));

INSTANTIATE_TEST_SUITE_P(
    Values, SpecError,
    testing::Values(
        Case{"timeout: -5", "timeout: '-5' is not a duration; write for example 500ms, 90s or 2m"},
        Case{"interval: 100",
             "interval: 1 min 40 s is out of range; choose 10ms to 1m (a bare number is in "
             "seconds)"},
        Case{"repeat: 1.5", "repeat: '1.5' is not a whole number; write for example 3"},
        Case{"repeat: 1001", "repeat: 1001 is out of range; choose 1 to 1000"},
        Case{"command: ''", "command: is empty; name the program to run, or remove the key"},
        Case{"workdir: ''", "workdir: is empty; give a value or remove the key"},
        Case{"workdir: \"a\\0b\"", "workdir: has a NUL character; remove it"},
        Case{"image: two words",
             "image: 'two words' is not an image; write namespace/name:version"},
        Case{"env: [A]", "env: 'A' has no value; write NAME=VALUE"},
        Case{"env: ['PASSWORD:hunter2']", "env: 'PASSWORD:***' has no value; write NAME=VALUE"},
        Case{"env: [A=1, A=2]", "env: A is given again; remove one of them"},
        Case{"env: {A-B: 1}",
             "env: 'A-B' is not a variable's name; use letters, digits and _, and no digit first"},
        Case{"metrics: []",
             "metrics: nothing to measure; choose of: system, power, stacks, gpu-summary, "
             "gpu-kernels"},
        Case{"metrics: zebra",
             "metrics: unknown metrics 'zebra'; choose of: system, power, stacks, gpu-summary, "
             "gpu-kernels"},
        Case{"resources: {cpus: many}",
             "cpus: 'many' is not a number of CPU cores; write for example 2, 0.5 or 500m"},
        Case{"resources: {cpus: 0}", "cpus: 0 cores are out of range; choose 0.01 to 4096"},
        Case{"resources: {memory: 5XB}",
             "memory: '5XB' is not a size; write for example 512MB or 2GiB"},
        Case{"resources: {memory: 512}",
             "memory: 512 B is too little to start a program; write for example 512MB"},
        Case{"resources: {pids: 0}", "pids: '0' is not a number of processes; choose 1 to 4194304"},
        Case{"runtime: docker", "runtime: docker needs an image; add \"image: …\""},
        Case{"runtime: kubernetes", "runtime: kubernetes needs an image; add \"image: …\""},
        Case{"goals: [fps.men > 1]",
             "goals: unknown statistic 'men' in goal 'fps.men > 1'; did you mean 'mean'?"},
        Case{"{timeout: 5, timeout: 6}",
             "key 'timeout' is given again (first in line 3); remove one of them"},
        Case{"{[a]: b}", "a key must be text, not a list; write \"key: value\""},
        Case{"{warmup: 5, timeout: 5}",
             "the warm-up of 5 s leaves nothing of the timeout of 5 s to measure; make the warmup "
             "shorter"},
        Case{"{targets: [{targets: []}]}",
             "a target has no targets of its own; move them one level up"}));

INSTANTIATE_TEST_SUITE_P(
    NearestKeys, SpecError,
    testing::Values(
        Case{"target: []", "unknown key 'target'; did you mean 'targets'?"},
        Case{"metric: system", "unknown key 'metric'; did you mean 'metrics'?"},
        Case{"Timeout: 5", "unknown key 'Timeout'; did you mean 'timeout'?"},
        Case{"warm-up: 5", "unknown key 'warm-up'; did you mean 'warmup'?"},
        Case{"enviroment: {}",
             "unknown key 'enviroment'; choose of: args, command, dataset, docker_args, env, "
             "goals, grace, image, interval, metrics, needs, playback, repeat, resources, runtime, "
             "timeout, warmup, workdir, targets"},
        Case{"goal: {}", "unknown key 'goal'; did you mean 'goals'?"},
        Case{"ressources: {}", "unknown key 'ressources'; did you mean 'resources'?"},
        Case{"resources: {cpu: 1}", "unknown key 'cpu'; did you mean 'cpus'?"},
        Case{"resources: {mem: 1}",
             "unknown key 'mem'; choose of: cpus, memory, pids, gpus, network"},
        Case{"targets: [{nme: x}]", "unknown key 'nme'; did you mean 'name'?"},
        Case{"targets: [{nmae: x}]", "unknown key 'nmae'; did you mean 'name'?"},
        Case{"targets: [{arg: x}]", "unknown key 'arg'; did you mean 'args'?"},
        Case{"name: x",
             "unknown key 'name'; choose of: args, command, dataset, docker_args, env, goals, "
             "grace, image, interval, metrics, needs, playback, repeat, resources, runtime, "
             "timeout, warmup, workdir, targets"},
        Case{"runtime: proces", "runtime: unknown runtime 'proces'; did you mean 'process'?"},
        Case{"metrics: [sytem]", "metrics: unknown metrics 'sytem'; did you mean 'system'?"},
        Case{"goals: [fps.maen > 1]",
             "goals: unknown statistic 'maen' in goal 'fps.maen > 1'; did you mean 'mean'?"}));

TEST(SpecErrors, name_misspelt_keys_of_the_top_level_only_when_they_are_near_to_ours) {
  for (const auto* key :
       {"profilng", "porfiling", "Profiling", "profile", "profiles", "profiler"}) {
    EXPECT_EQ(errors_of(std::string("command: x\n") + key + ": {}\n"),
              std::string("s.yaml:2: unknown key '") + key + "'; did you mean 'profiling'?\n");
  }
  EXPECT_EQ(errors_of("nmae: x\ncommand: x\n"),
            "s.yaml:1: unknown key 'nmae'; did you mean 'name'?\n");
  EXPECT_EQ(errors_of("command: x\nversoin: 1\n"),
            "s.yaml:2: unknown key 'versoin'; did you mean 'version'?\n");
  EXPECT_EQ(errors_of("comand: x\n"), "s.yaml:1: unknown key 'comand'; did you mean 'command'?\n");
  for (const auto* key :
       {"testing", "training", "date", "images", "commands", "pricing", "space"}) {
    EXPECT_EQ(errors_of(std::string("command: x\n") + key + ": {}\n"), "") << key;
  }
}

TEST(SpecErrors, tell_what_stands_a_level_too_high) {
  EXPECT_EQ(
      errors_of("command: x\ntargets: []\n"),
      "s.yaml:2: 'targets' belongs into the section 'profiling'; write \"profiling:\" above it "
      "and indent it\n");
  EXPECT_EQ(errors_of("command: x\ngoals: []\nprofiling: {}\n"), "");
}

TEST(SpecErrors, tell_every_key_of_the_section_that_stands_a_level_too_high) {
  for (const std::string line :
       {"timeout: 5", "repeat: 2", "warmup: 1s", "args: --fast", "interval: 1s", "grace: 1s",
        "metrics: [system]", "resources: {cpus: 1}", "resources: {memory: 1GB, gpus: 1}",
        "resources: {gpus: all}", "resources: {network: {rate: 2mbit}}", "docker_args: -i",
        "app_docker_args: -i", "playback: {id: a}"}) {
    const std::string key = line.substr(0, line.find(':'));
    EXPECT_EQ(
        errors_of("command: x\n" + line + "\n"),
        "s.yaml:2: '" + key +
            "' belongs into the section 'profiling'; write \"profiling:\" above it and indent "
            "it\n");
  }
  EXPECT_EQ(errors_of("command: x\nresources: [{type: camera}]\n"), "");
  EXPECT_EQ(errors_of("command: x\nresources: {camera: left}\n"), "");
}

TEST(SpecErrors, tell_two_targets_of_one_name) {
  EXPECT_EQ(errors_of(R"(command: x
profiling:
  targets:
    - {name: few}
    - {}
    - {}
    - name: few
)"),
            "s.yaml:7: another target is called 'few' too (in line 4); give each its own name\n");
}

TEST(SpecErrors, tell_where_a_quote_opens_that_is_never_closed) {
  const std::string error = "the quote that opens here is never closed\n";
  EXPECT_EQ(errors_of("name: a\ncommand: \"python3 x.py\nprofiling:\n  repeat: 2\n"),
            "s.yaml:2: " + error);
  EXPECT_EQ(errors_of("name: ä\ncommand: 'it''s\n"), "s.yaml:2: " + error);
  EXPECT_EQ(errors_of("name: a\ncommand: \"say \\\"\n"), "s.yaml:2: " + error);
  EXPECT_EQ(errors_of("command: [x, 'it''s', \"a \\\" b\", don't]\n"), "");
  EXPECT_EQ(errors_of("\xEF\xBB\xBFname: a\r\ncommand: \"x y\"\r\n"), "");
}

TEST(SpecErrors, tell_when_there_is_nothing_to_run) {
  EXPECT_EQ(errors_of("description: x\n"),
            "s.yaml: nothing to run; add a command, an image, or the app's name\n");
  EXPECT_EQ(
      errors_of("name: two words\n"),
      "s.yaml: 'two words' is not an image; write namespace/name:version, or add a command or "
      "an image\n");
  EXPECT_EQ(errors_of("name: a\nprofiling:\n  runtime: process\n"),
            "s.yaml:3: runtime: process needs a command; add \"command: …\"\n");
  EXPECT_EQ(errors_of("command: {}\n"),
            "s.yaml:1: command: must be text or a list of words, not a map; write for example "
            "\"--size 640 --fast\" or [--size, 640, --fast]\n");
}

TEST(SpecErrors, tell_wrong_types_of_the_top_level) {
  EXPECT_EQ(
      errors_of("command: x\nprofiling: [targets]\n"),
      "s.yaml:2: profiling: must be a map, not a list; write for example \"profiling: {targets: "
      "[{args: --fast, timeout: 60}]}\"\n");
  EXPECT_EQ(errors_of("command: x\nname: [a]\n"),
            "s.yaml:2: name: must be text, not a list; write for example \"name: x\"\n");
  EXPECT_EQ(errors_of("command: x\ncommand: y\n"),
            "s.yaml:2: key 'command' is given again (first in line 1); remove one of them\n");
}

TEST(SpecErrors, tell_of_tabs_where_they_are) {
  const auto* words = "YAML allows no tabs for indentation; use spaces\n";
  EXPECT_EQ(errors_of("command: x\nprofiling:\n\ttargets: []\n"),
            std::string("s.yaml:3: ") + words);
  EXPECT_EQ(errors_of("command: x\nprofiling:\n  targets:\n  - args: a\n  \t  timeout: 3\n"),
            std::string("s.yaml:5: ") + words);
  EXPECT_EQ(errors_of("command: x\ndescription: |\n  a\n  \tb\n"), "");
}

TEST(SpecErrors, of_one_default_are_told_once) {
  EXPECT_EQ(errors_of("description: x\nprofiling: {targets: [{}, {}, {}]}\n"),
            "s.yaml: nothing to run; add a command, an image, or the app's name\n");
}

TEST(SpecErrors, name_the_file_they_are_in) {
  EXPECT_EQ(all_errors(parse_spec("nmae: a\ncommand: x\n", "s.yaml", "timout: 5\n", "p.yaml")),
            "s.yaml:1: unknown key 'nmae'; did you mean 'name'?\n"
            "p.yaml:1: unknown key 'timout'; did you mean 'timeout'?\n");
  EXPECT_EQ(all_errors(parse_spec("name: a\n", "s.yaml", "profilng: {}\n", "p.yaml")),
            "p.yaml:1: unknown key 'profilng'; did you mean 'profiling'?\n");
}

TEST(SpecErrors, tell_of_files_that_cannot_be_read) {
  EXPECT_EQ(
      all_errors(read_spec("/no/such.yaml", "/no/profile.yaml")),
      "/no/such.yaml: cannot open: No such file or directory; give the path of a YAML file\n"
      "/no/profile.yaml: cannot open: No such file or directory; give the path of a YAML file\n");
}

}  // namespace
}  // namespace assay::session
