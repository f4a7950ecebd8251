// SPDX-License-Identifier: Apache-2.0
#include <assay/session/spec.h>
#include <gtest/gtest.h>

namespace assay::session {
namespace {

using Words = std::vector<std::string>;
using std::chrono::seconds;

std::string all_errors(const SpecResult& result) {
  std::string text;
  for (const auto& error : result.errors) text += error.text() + "\n";
  return text;
}

Spec parsed(const std::string& text) {
  const auto result = parse_spec(text, "s.yaml");
  EXPECT_EQ(all_errors(result), "");
  return result.spec.value_or(Spec());
}

/// Of an image with this in its profiling section.
Target target_with(const std::string& line) {
  return parsed("image: a/b:1\nprofiling:\n  " + line + "\n").targets.at(0);
}

TEST(ContainerSpec, reads_every_key) {
  const Target target = target_with(R"(runtime: docker
  docker_args: -v /x:/y:ro -e 'A=two words'
  dataset: {source: "https://h/x.zip", sha256: 00112233445566778899AABBCCDDEEFF00112233445566778899aabbccddeeff}
  playback:
    - {id: top_live, files: "cam1/*.jpg", type: image, fps: 0.5, loop: no}
    - id: mic
      type: audio
  needs:
    - name: broker
      image: rabbitmq:3
      command: serve --fast
      env: {A: 1}
      ready: {port: 5672, log: Server startup complete, timeout: 90}
    - {name: model.2, image: m, ready_port: 80, ready_log: up, ready_timeout: 5s}
    - {name: plain, image: m}
  resources: {gpus: all, network: {rate: 2mbit, delay: 80ms, loss: 1%}})");
  EXPECT_EQ(target.runtime, "docker");
  EXPECT_EQ(target.docker_args, (Words{"-v", "/x:/y:ro", "-e", "A=two words"}));
  EXPECT_EQ(target.dataset, "https://h/x.zip");
  EXPECT_EQ(target.dataset_sha256,
            "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff");
  ASSERT_EQ(target.playback.size(), 2U);
  EXPECT_EQ(target.playback[0].id, "top_live");
  EXPECT_EQ(target.playback[0].files, "cam1/*.jpg");
  EXPECT_EQ(target.playback[0].kind, StreamKind::image);
  EXPECT_EQ(target.playback[0].frames_per_second, 0.5);
  EXPECT_FALSE(target.playback[0].loop);
  EXPECT_EQ(target.playback[1].kind, StreamKind::audio);
  EXPECT_TRUE(target.playback[1].loop);
  ASSERT_EQ(target.needs.size(), 3U);
  EXPECT_EQ(target.needs[0].name, "broker");
  EXPECT_EQ(target.needs[0].image, "rabbitmq:3");
  EXPECT_EQ(target.needs[0].command, (Words{"serve", "--fast"}));
  EXPECT_EQ(target.needs[0].env.at("A"), "1");
  EXPECT_EQ(target.needs[0].ready_port, 5672);
  EXPECT_EQ(target.needs[0].ready_log, "Server startup complete");
  EXPECT_EQ(target.needs[0].ready_timeout, seconds(90));
  EXPECT_EQ(target.needs[1].ready_port, 80);
  EXPECT_EQ(target.needs[1].ready_log, "up");
  EXPECT_EQ(target.needs[1].ready_timeout, seconds(5));
  EXPECT_EQ(target.needs[2].ready_port, std::nullopt);
  EXPECT_EQ(target.needs[2].ready_timeout, seconds(60));
  EXPECT_EQ(target.limits.gpus, "all");
  EXPECT_EQ(target.limits.network.rate_bits_per_second, 2e6);
  EXPECT_EQ(target.limits.network.delay, Milliseconds(80));
  EXPECT_EQ(target.limits.network.loss_ratio, 0.01);
}

TEST(ContainerSpec, takes_other_spellings) {
  EXPECT_EQ(target_with("app_docker_args: [-v, '/a b:/c']").docker_args, (Words{"-v", "/a b:/c"}));
  EXPECT_EQ(target_with("dataset: {url: s3://b/p}").dataset, "s3://b/p");
  EXPECT_EQ(target_with("{dataset: d, playback: {id: top}}").playback.at(0).id, "top");
  EXPECT_EQ(target_with("needs: {name: a, image: b}").needs.at(0).name, "a");
  EXPECT_EQ(target_with("resources: {gpus: 2}").limits.gpus, "2");
  EXPECT_EQ(target_with("resources: {gpus: \"0,1\"}").limits.gpus, "0,1");
  EXPECT_EQ(target_with("resources: {gpus: GPU-5ab0}").limits.gpus, "GPU-5ab0");
  EXPECT_EQ(target_with("resources: {network: {loss: 0.01}}").limits.network.loss_ratio, 0.01);
  EXPECT_EQ(target_with("resources: {network: {loss: 100 %}}").limits.network.loss_ratio, 1);
}

TEST(ContainerSpec, lays_a_target_over_the_section) {
  const auto targets = parsed(R"(image: a/b:1
profiling:
  docker_args: -i -t
  dataset: {source: /a, sha256: 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff}
  playback: [{id: top}, {id: bottom}]
  needs: [{name: broker, image: b}, {name: model, image: m}]
  resources: {gpus: 1, memory: 1GB, network: {rate: 2mbit, delay: 80ms}}
  targets:
    - {}
    - docker_args: -d
      dataset: /b
      playback: {id: left}
      needs: []
      resources: {gpus: all, network: {rate: 1mbit, loss: 1%}}
)")
                           .targets;
  ASSERT_EQ(targets.size(), 2U);
  EXPECT_EQ(targets[0].docker_args, (Words{"-i", "-t"}));
  EXPECT_EQ(targets[0].playback.size(), 2U);
  EXPECT_EQ(targets[0].needs.size(), 2U);
  EXPECT_EQ(targets[1].docker_args, Words{"-d"});
  EXPECT_EQ(targets[1].dataset, "/b");
  EXPECT_EQ(targets[1].dataset_sha256, "");
  ASSERT_EQ(targets[1].playback.size(), 1U);
  EXPECT_EQ(targets[1].playback[0].id, "left");
  EXPECT_TRUE(targets[1].needs.empty());
  EXPECT_EQ(targets[1].limits.gpus, "all");
  EXPECT_EQ(targets[1].limits.memory_bytes, 1'000'000'000U);
  EXPECT_EQ(targets[1].limits.network.rate_bits_per_second, 1e6);
  EXPECT_EQ(targets[1].limits.network.delay, Milliseconds(80));
  EXPECT_EQ(targets[1].limits.network.loss_ratio, 0.01);
}

TEST(ContainerSpec, runs_what_the_runtime_says) {
  const auto process = parsed("image: a/b:1\ncommand: run\nprofiling: {runtime: process}\n");
  EXPECT_EQ(process.targets[0].runtime, "process");
  EXPECT_EQ(process.targets[0].image, "");
  EXPECT_EQ(process.targets[0].command, Words{"run"});
  const auto docker = parsed("name: a\nversion: 1\ncommand: run\nprofiling: {runtime: docker}\n");
  EXPECT_EQ(docker.targets[0].runtime, "docker");
  EXPECT_EQ(docker.targets[0].image, "a:1");
  EXPECT_EQ(docker.targets[0].command, Words{"run"});
  EXPECT_EQ(parsed("image: a/b:1\n").targets[0].runtime, "auto");
}

struct Case {
  const char* line;
  const char* error;
};
// GoogleTest looks for this name. NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const Case& wanted, std::ostream* out) {
  *out << wanted.line;
}

class ContainerError : public testing::TestWithParam<Case> {};

TEST_P(ContainerError, says_what_is_wrong_and_what_to_do) {
  const auto result =
      parse_spec("image: a/b:1\nprofiling:\n  " + std::string(GetParam().line) + "\n", "s.yaml");
  EXPECT_EQ(all_errors(result), std::string("s.yaml:3: ") + GetParam().error + "\n");
}

INSTANTIATE_TEST_SUITE_P(
    DockerArgs, ContainerError,
    testing::Values(
        Case{"docker_args: {a: b}",
             "docker_args: must be text or a list of words, not a map; write for example \"--size "
             "640 --fast\" or [--size, 640, --fast]"},
        Case{"docker_args: --volum /a:/b",
             "docker_args: docker argument '--volum' is not known here; did you mean --volume?"},
        Case{"app_docker_args: -v", "app_docker_args: docker argument -v has no value behind it"},
        Case{"docker_args: PASSWORD=hunter2",
             "docker_args: docker argument 'PASSWORD=***' is not an option; image and command "
             "have their own place"},
        Case{"{docker_args: -i, app_docker_args: -t}",
             "docker_args and app_docker_args are one; remove one of them"}));

INSTANTIATE_TEST_SUITE_P(
    Dataset, ContainerError,
    testing::Values(
        Case{"dataset: [a]",
             "dataset: must be text or a map, not a list; write for example data/winter or "
             "{source: https://…, sha256: …}"},
        Case{"dataset: ''", "dataset: is empty; give a value or remove the key"},
        Case{"dataset: {}",
             "dataset: has no source; write for example data/winter or {source: https://…, "
             "sha256: …}"},
        Case{"dataset: {source: a, url: b}", "dataset: source and url are one; remove one of them"},
        Case{"dataset: {source: a, sha: b}", "unknown key 'sha'; choose of: source, sha256"},
        Case{"dataset: {source: a, sha25: b}", "unknown key 'sha25'; did you mean 'sha256'?"},
        Case{"dataset: {source: a, sha256: 12ab}",
             "sha256: '12ab' is not a checksum; give the 64 hex digits that sha256sum prints"}));

INSTANTIATE_TEST_SUITE_P(
    Playback, ContainerError,
    testing::Values(
        Case{"playback: {id: top}", "playback: there is no dataset to play; add \"dataset: …\""},
        Case{"{dataset: d, playback: top}",
             "playback: must be a map or a list of maps, not text; write for example {id: "
             "top_live, files: cam1, type: video, fps: 10}"},
        Case{"{dataset: d, playback: {files: a}}",
             "playback: a stream needs an id; write for example {id: top_live, files: cam1, type: "
             "video, fps: 10}"},
        Case{"{dataset: d, playback: [{id: a}, {id: a}]}",
             "playback: another stream has the id 'a' too (in line 3); give each its own"},
        Case{"{dataset: d, playback: {id: a, typ: video}}",
             "unknown key 'typ'; did you mean 'type'?"},
        Case{"{dataset: d, playback: {id: a, type: vidoe}}",
             "type: unknown type 'vidoe'; did you mean 'video'?"},
        Case{"{dataset: d, playback: {id: a, type: radar}}",
             "type: unknown type 'radar'; choose of: video, image, audio"},
        Case{"{dataset: d, playback: {id: a, fps: 0}}",
             "fps: '0' is not a number of frames a second; choose above 0 to 1000"},
        Case{"{dataset: d, playback: {id: a, fps: 1001}}",
             "fps: '1001' is not a number of frames a second; choose above 0 to 1000"},
        Case{"{dataset: d, playback: {id: a, loop: maybe}}",
             "loop: 'maybe' is neither true nor false"}));

INSTANTIATE_TEST_SUITE_P(
    Needs, ContainerError,
    testing::Values(
        Case{"needs: broker",
             "needs: must be a map or a list of maps, not text; write for example {name: broker, "
             "image: rabbitmq:3, ready: {port: 5672}}"},
        Case{"needs: {name: broker}",
             "needs: each has a name and an image; write for example {name: broker, image: "
             "rabbitmq:3, ready: {port: 5672}}"},
        Case{"needs: {name: a b, image: x}",
             "name: 'a b' is not a container's name; use letters, digits, -, _ and ., at most 63, "
             "and a letter or digit first"},
        Case{"needs: {name: stdout, image: x}",
             "name: 'stdout' means something else already; choose another name"},
        Case{"needs: {name: localhost, image: x}",
             "name: 'localhost' means something else already; choose another name"},
        Case{"needs: {name: a, image: x y}",
             "image: 'x y' is not an image; write namespace/name:version"},
        Case{"needs: [{name: a, image: x}, {name: a, image: y}]",
             "needs: another one is called 'a' too (in line 3); give each its own name"},
        Case{"needs: {name: a, image: x, imag: y}", "unknown key 'imag'; did you mean 'image'?"},
        Case{"needs: {name: a, image: x, ready_prt: 1}",
             "unknown key 'ready_prt'; did you mean 'ready_port'?"},
        Case{"needs: {name: a, image: x, ready: 80}",
             "ready: must be a map, not text; write for example {port: 5672, timeout: 30s}"},
        Case{"needs: {name: a, image: x, ready: {prt: 1}}",
             "unknown key 'prt'; did you mean 'port'?"},
        Case{"needs: {name: a, image: x, ready: {port: 65536}}",
             "port: '65536' is not a port; choose 1 to 65535"},
        Case{"needs: {name: a, image: x, ready_port: 0}",
             "ready_port: '0' is not a port; choose 1 to 65535"},
        Case{"needs: {name: a, image: x, ready: {port: 80}, ready_port: 81}",
             "ready_port: is given twice, in ready and as ready_port; remove one of them"},
        Case{"needs: {name: a, image: x, ready: {timeout: soon}}",
             "timeout: 'soon' is not a duration; write for example 500ms, 90s or 2m"},
        Case{"needs: {name: a, image: x, ready: {timeout: 0}}",
             "timeout: leaves no time to get ready; write for example 30s"},
        Case{"needs: {name: a, image: x, env: [A]}", "env: 'A' has no value; write NAME=VALUE"}));

INSTANTIATE_TEST_SUITE_P(
    Resources, ContainerError,
    testing::Values(
        Case{"resources: {gpus: 0}",
             "gpus: '0' is not a choice of GPUs; write all, a number as in 1, or ids as in "
             "\"0,1\""},
        Case{"resources: {gpus: \"0,\"}",
             "gpus: '0,' is not a choice of GPUs; write all, a number as in 1, or ids as in "
             "\"0,1\""},
        Case{"resources: {network: none}",
             "network: must be a map, not text; write for example {rate: 2mbit, delay: 80ms, "
             "loss: 1%}"},
        Case{"resources: {network: {rat: 1}}", "unknown key 'rat'; did you mean 'rate'?"},
        Case{"resources: {network: {rate: fast}}",
             "rate: 'fast' is not a bit rate; write for example 500kbit or 2mbit"},
        Case{"resources: {network: {rate: 2mbps}}",
             "rate: '2mbps' means bytes to some tools and bits to others; write for example "
             "500kbit or 2mbit"},
        Case{"resources: {network: {rate: 2bit}}",
             "rate: '2bit' is out of range; choose 1kbit to 1tbit"},
        Case{"resources: {network: {delay: 2m}}", "delay: 2 min 0 s is too long; the most is 60s"},
        Case{"resources: {network: {loss: 1}}",
             "loss: '1' is not a share of packets; write for example 1% or 0.01"},
        Case{"resources: {network: {loss: 101%}}",
             "loss: '101%' is not a share of packets; write for example 1% or 0.01"}));

TEST(ContainerErrors, tell_what_a_process_cannot_have_where_it_is_written) {
  EXPECT_EQ(all_errors(parse_spec(R"(command: run
profiling:
  docker_args: -i
  needs: {name: a, image: b}
  resources: {gpus: 1}
  targets:
    - {}
    - {}
    - resources: {network: {rate: 2mbit}}
)",
                                  "s.yaml")),
            "s.yaml:3: docker_args need a container; name an image, or remove them\n"
            "s.yaml:4: needs go with a container; name an image, or remove them\n"
            "s.yaml:5: a choice of GPUs needs a container; name an image, or remove it\n"
            "s.yaml:9: a choice of GPUs needs a container; name an image, or remove it\n"
            "s.yaml:9: network limits need a container; name an image, or remove them\n");
}

TEST(ContainerErrors, bound_what_one_file_can_ask_for) {
  std::string streams;
  std::string needs;
  for (int i = 0; i < 70; ++i) {
    streams += "{id: s" + std::to_string(i) + "},";
    needs += "{name: n" + std::to_string(i) + ", image: x},";
  }
  EXPECT_EQ(all_errors(parse_spec("image: a\nprofiling:\n  dataset: d\n  playback: [" + streams +
                                      "]\n  needs: [" + needs + "]\n",
                                  "s.yaml")),
            "s.yaml:4: playback: too many; the most is 64\n"
            "s.yaml:5: needs: too many; the most is 20\n");
}

TEST(ContainerErrors, of_other_keys_hide_no_image) {
  EXPECT_EQ(all_errors(parse_spec("name: a\nprofiling:\n  timout: 1\n  docker_args: -i\n"
                                  "  dataset: []\n  playback: {id: a}\n",
                                  "s.yaml")),
            "s.yaml:3: unknown key 'timout'; did you mean 'timeout'?\n"
            "s.yaml:5: dataset: must be text or a map, not a list; write for example data/winter "
            "or {source: https://…, sha256: …}\n");
}

}  // namespace
}  // namespace assay::session
