// SPDX-License-Identifier: Apache-2.0
#include "dataset/testing/script_server.h"

#include <array>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace assay::launch::testing {
namespace {

struct Pipe {
  Fd read_end;
  Fd write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

std::string read_line(int fd) {
  std::string line;
  char c = 0;
  while (::read(fd, &c, 1) == 1 && c != '\n') line += c;
  return line;
}

pid_t spawn(std::vector<std::string>& words, int input, int output) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  pid_t pid = -1;
  EXPECT_EQ(::posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

}  // namespace

ScriptServer::ScriptServer(const std::string& script, std::vector<std::string> arguments) {
  Pipe input = make_pipe();
  Pipe output = make_pipe();
  std::vector<std::string> words = {"/usr/bin/python3", "-B",
                                    ASSAY_SOURCE_DIR "/src/launch/dataset/testing/" + script};
  words.insert(words.end(), arguments.begin(), arguments.end());
  pid_ = spawn(words, input.read_end.get(), output.write_end.get());
  input_ = std::move(input.write_end);
  output.write_end.reset();
  const std::string line = read_line(output.read_end.get());
  facts_ = nlohmann::json::parse(line, nullptr, false);
  EXPECT_TRUE(facts_.is_object()) << script << " did not start: " << line;
}

ScriptServer::~ScriptServer() {
  input_.reset();
  ::waitpid(pid_, nullptr, 0);
}

}  // namespace assay::launch::testing
