// SPDX-License-Identifier: Apache-2.0
#include "unix_socket.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace assay::hooks {
namespace {
namespace fs = std::filesystem;

class UnixSockets : public testing::Test {
 public:
  UnixSockets() {
    std::string pattern = fs::temp_directory_path() / "assay-hooks-XXXXXX";
    dir_ = mkdtemp(pattern.data());
  }
  ~UnixSockets() override { fs::remove_all(dir_); }

 protected:
  fs::path dir_;
};

TEST_F(UnixSockets, lets_every_user_connect_and_removes_its_file) {
  {
    const auto socket = ListeningSocket::open(dir_ / "s");
    ASSERT_TRUE(socket) << socket.error().message;
    EXPECT_EQ(fs::status(dir_ / "s").permissions(), fs::perms(0666));
  }
  EXPECT_FALSE(fs::exists(dir_ / "s"));
}

TEST_F(UnixSockets, takes_over_a_stale_file_but_not_a_living_server_or_a_plain_file) {
  {
    const auto address = SocketAddress::of(dir_ / "s");
    const Fd dead(::socket(AF_UNIX, SOCK_STREAM, 0));
    ASSERT_EQ(::bind(dead.get(), address->get(), sizeof address->raw), 0);
  }
  ASSERT_TRUE(fs::exists(dir_ / "s"));
  const auto first = ListeningSocket::open(dir_ / "s");
  ASSERT_TRUE(first);
  const auto second = ListeningSocket::open(dir_ / "s");
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another profiler listens"), std::string::npos);

  ASSERT_TRUE(write_file(dir_ / "plain", "text"));
  EXPECT_NE(ListeningSocket::open(dir_ / "plain").error().message.find("not a socket"),
            std::string::npos);
  EXPECT_EQ(read_file(dir_ / "plain").value(), "text");
}

TEST_F(UnixSockets, leaves_a_file_alone_that_is_no_longer_its_own) {
  {
    const auto socket = ListeningSocket::open(dir_ / "s");
    ASSERT_TRUE(socket);
    fs::rename(dir_ / "s", dir_ / "moved");
    ASSERT_TRUE(write_file(dir_ / "s", "somebody else's"));
  }
  EXPECT_TRUE(fs::exists(dir_ / "s"));
}

TEST_F(UnixSockets, reaches_paths_longer_than_an_address) {
  const fs::path deep = dir_ / std::string(60, 'a') / std::string(60, 'b');
  fs::create_directories(deep);
  {
    const auto socket = ListeningSocket::open(deep / "s");
    ASSERT_TRUE(socket) << socket.error().message;
    const auto address = SocketAddress::of(deep / "s");
    const Fd client(::socket(AF_UNIX, SOCK_STREAM, 0));
    EXPECT_EQ(::connect(client.get(), address->get(), sizeof address->raw), 0);
  }
  EXPECT_FALSE(fs::exists(deep / "s"));
}

TEST_F(UnixSockets, errors_say_what_to_do) {
  EXPECT_NE(ListeningSocket::open(dir_ / std::string(150, 'x')).error().message.find("shorter"),
            std::string::npos);
  EXPECT_NE(ListeningSocket::open(dir_ / "none/s").error().message.find("none/s: No such file"),
            std::string::npos);
  EXPECT_FALSE(ListeningSocket::open(""));
}

TEST_F(UnixSockets, tell_who_is_calling) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  const Fd here(pair[0]);
  const Fd there(pair[1]);
  const Caller caller = caller_of(here.get());
  EXPECT_EQ(caller.pid, ::getpid());
  std::string name;  // of an emulator, where one runs this
  std::ifstream("/proc/self/comm") >> name;
  EXPECT_EQ(caller.source, "reported by pid " + std::to_string(::getpid()) + " (" + name + ")");
  EXPECT_EQ(caller_of(-1).pid, 0);
}

}  // namespace
}  // namespace assay::hooks
