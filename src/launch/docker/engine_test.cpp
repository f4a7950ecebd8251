// SPDX-License-Identifier: Apache-2.0
#include "docker/engine_answers.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

std::string frame(char stream, const std::string& text) {
  std::string bytes = {stream, 0, 0, 0, 0, 0, 0, static_cast<char>(text.size())};
  return bytes + text;
}

struct Taken {
  std::string standard;
  std::string error;
};

Taken split(const std::string& bytes, size_t piece) {
  Taken taken;
  OutputSplitter splitter([&](Output output, std::string_view text) {
    (output == Output::error ? taken.error : taken.standard) += text;
  });
  for (size_t at = 0; at < bytes.size(); at += piece)
    splitter.feed(std::string_view(bytes).substr(at, piece));
  return taken;
}

TEST(OutputSplitter, puts_each_stream_together_whatever_the_pieces_are) {
  const std::string bytes =
      frame(1, "one ") + frame(2, "bad") + frame(1, "") + frame(1, "two") + frame(2, "!");
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    const Taken taken = split(bytes, piece);
    EXPECT_EQ(taken.standard, "one two") << piece;
    EXPECT_EQ(taken.error, "bad!") << piece;
  }
}

TEST(OutputSplitter, passes_on_what_there_is_of_a_piece_that_is_cut_off) {
  EXPECT_EQ(split(frame(1, "whole").substr(0, 10), 3).standard, "wh");
  EXPECT_EQ(split(frame(1, "whole").substr(0, 5), 3).standard, "");
}

TEST(PullProgress, adds_up_the_layers_that_tell_their_size) {
  PullProgress progress;
  EXPECT_TRUE(progress.line(R"({"status":"Pulling from waggle/app","id":"1"})"));
  EXPECT_EQ(progress.total(), 0U);
  EXPECT_TRUE(progress.line(
      R"({"status":"Downloading","progressDetail":{"current":10,"total":100},"id":"a"})"));
  EXPECT_TRUE(progress.line(
      R"({"status":"Downloading","progressDetail":{"current":5,"total":20},"id":"b"})"));
  EXPECT_TRUE(progress.line(
      R"({"status":"Downloading","progressDetail":{"current":90,"total":100},"id":"a"})"));
  EXPECT_TRUE(progress.line(
      R"({"status":"Extracting","progressDetail":{"current":1,"total":100},"id":"a"})"));
  EXPECT_EQ(progress.done(), 95U);
  EXPECT_EQ(progress.total(), 120U);
}

TEST(PullProgress, an_error_in_the_stream_is_the_pulls) {
  PullProgress progress;
  const auto read = progress.line(R"({"errorDetail":{"message":"x"},"error":"no such image"})");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "no such image");
}

TEST(PullProgress, what_makes_no_sense_is_passed_over) {
  PullProgress progress;
  for (const auto* line : {"", "  ", "garbage", "[]", R"({"status":5,"id":7})",
                           R"({"status":"Downloading","id":"a","progressDetail":{"current":-1}})",
                           R"({"status":"Downloading","id":"a","progressDetail":[1]})"}) {
    EXPECT_TRUE(progress.line(line)) << line;
  }
  EXPECT_EQ(progress.done(), 0U);
}

TEST(EngineAnswers, of_odd_types_count_as_not_told) {
  const auto read = [](const char* text) { return read_container(Json::parse(text)); };
  EXPECT_EQ(read(R"({"State":{"Pid":-5}})").pid, 0);
  EXPECT_EQ(read(R"({"State":{"Pid":4294967303}})").pid, 0) << "not 7";
  EXPECT_EQ(read(R"({"State":{"Status":7,"Paused":"yes"},"Args":"x"})").status, "");
  EXPECT_EQ(read("[]").id, "");
  EXPECT_TRUE(read_list(Json::parse(R"([{"Id":""},{},7])")).empty());
  EXPECT_TRUE(read_list(Json::parse(R"("text")")).empty());
  EXPECT_EQ(read_gateway(Json::parse(R"({"IPAM":[]})")), "");
  EXPECT_FALSE(read_engine(Json::parse(R"([1])")));
  EXPECT_EQ(message_of("  \n", 502), "status 502");
  EXPECT_EQ(message_of(R"({"message":7})", 502), R"({"message":7})");
}

TEST(EngineAnswers, blame_the_app_only_for_a_command_that_cannot_be_executed) {
  const std::string runc = "OCI runtime create failed: runc create failed: ";
  const std::string process = runc + "unable to start container process: ";
  EXPECT_TRUE(says_it_cannot_be_executed(
      process + R"(exec: "nosuch": executable file not found in $PATH: unknown)"));
  EXPECT_TRUE(says_it_cannot_be_executed(
      process + R"(exec: "/etc/passwd": permission denied: OCI permission denied)"));
  EXPECT_TRUE(says_it_cannot_be_executed(
      "crun: executable file `nosuch` not found in $PATH: No such file or directory"));
  EXPECT_TRUE(says_it_cannot_be_executed("crun: open executable: Permission denied"));
  EXPECT_FALSE(says_it_cannot_be_executed(
      process +
      R"(error during container init: error mounting "/x" to rootfs: permission denied)"));
  EXPECT_FALSE(says_it_cannot_be_executed(
      process + R"(error mounting "/x" to rootfs at "/x": stat /x: no such file or directory)"));
  EXPECT_FALSE(says_it_cannot_be_executed(
      R"(failed to start shim: exec: "containerd-shim": executable file not found in $PATH)"));
}

TEST(ImageName, has_a_tag_or_a_digest_behind_its_path) {
  const auto expect = [](const char* image, const char* name, const char* tag) {
    EXPECT_EQ(split_image(image).name, name);
    EXPECT_EQ(split_image(image).tag, tag);
  };
  expect("waggle/app:0.1", "waggle/app", "0.1");
  expect("app", "app", "latest");
  expect("localhost:5000/waggle/app", "localhost:5000/waggle/app", "latest");
  expect("localhost:5000/app:2", "localhost:5000/app", "2");
  expect("app@sha256:0123", "app", "sha256:0123");
}

class EngineEndpoint : public testing::Test {
 protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const auto* name : {"DOCKER_HOST", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH"})
      ::unsetenv(name);
  }
};

TEST_F(EngineEndpoint, is_what_docker_host_says) {
  ::setenv("DOCKER_HOST", "unix:///run/x.sock", 1);
  EXPECT_EQ(engine_endpoint()->unix_socket, "/run/x.sock");
  ::setenv("DOCKER_HOST", "tcp://node:2375", 1);
  EXPECT_EQ(engine_endpoint()->base, "http://node:2375");
  EXPECT_TRUE(engine_endpoint()->unix_socket.empty());
}

TEST_F(EngineEndpoint, wants_certificates_where_tls_is_asked_for) {
  ::setenv("DOCKER_HOST", "tcp://node:2376", 1);
  ::setenv("DOCKER_TLS_VERIFY", "1", 1);
  ::setenv("DOCKER_CERT_PATH", "/nonexistent", 1);
  const auto endpoint = engine_endpoint();
  ASSERT_FALSE(endpoint);
  EXPECT_EQ(
      endpoint.error().message,
      "DOCKER_TLS_VERIFY is set but /nonexistent/ca.pem is not there; set DOCKER_CERT_PATH to "
      "the folder with ca.pem, cert.pem and key.pem");
}

TEST_F(EngineEndpoint, refuses_what_it_cannot_speak) {
  ::setenv("DOCKER_HOST", "ssh://me@node", 1);
  ASSERT_FALSE(engine_endpoint());
  EXPECT_EQ(engine_endpoint().error().kind, ErrorKind::input);
}

TEST(Engine, without_a_daemon_says_how_to_start_one) {
  Engine engine({.unix_socket = "/nonexistent/docker.sock"});
  const auto info = engine.info();
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().kind, ErrorKind::environment);
  EXPECT_EQ(
      info.error().message,
      "no container daemon is at /nonexistent/docker.sock; start Docker (sudo systemctl start "
      "docker) or Podman (systemctl --user start podman.socket), or set DOCKER_HOST");
}

}  // namespace
}  // namespace assay::launch
