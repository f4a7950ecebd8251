// SPDX-License-Identifier: Apache-2.0
// A node without its uplink: names are looked up at a server that does not answer.
#include "testing/temp_folder.h"

#include <arpa/inet.h>
#include <chrono>
#include <fstream>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/promapi/remote_write.h>
#include <gtest/gtest.h>

namespace assay::promapi {
namespace {

using namespace std::chrono_literals;

enum Outcome { kEnded = 0, kTooSlow = 1, kNobodyAsked = 2, kNotAllowed = 3 };

/// Gives this process a network of its own whose only name server is the socket that comes back.
Fd silent_name_server(const std::filesystem::path& folder) {
  if (::unshare(CLONE_NEWNS | CLONE_NEWNET) != 0) return {};
  std::ofstream(folder / "resolv.conf") << "nameserver 127.0.0.1\n";
  ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  if (::mount((folder / "resolv.conf").c_str(), "/etc/resolv.conf", nullptr, MS_BIND, nullptr) != 0)
    return {};
  Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq loopback{};
  loopback.ifr_name[0] = 'l';
  loopback.ifr_name[1] = 'o';
  loopback.ifr_flags = IFF_UP;
  if (::ioctl(fd.get(), SIOCSIFFLAGS, &loopback) != 0) return {};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(53);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  return fd;
}

/// Ends a sender while it looks up a name.
Outcome end_during_lookup(const std::filesystem::path& folder) {
  const Fd names = silent_name_server(folder);
  if (!names.valid()) return kNotAllowed;
  const SystemClock clock;
  const auto queue = DiskQueue::open(folder / "queue").value_or(nullptr);
  if (!queue || !queue->push("x", 1)) return kNobodyAsked;
  auto sender = RemoteWriteSender::start({.url = "http://nowhere.example/write"}, *queue, clock,
                                         [](const std::string&) {});
  pollfd asked{names.get(), POLLIN, 0};
  if (!sender || ::poll(&asked, 1, 20'000) != 1) return kNobodyAsked;
  const auto start = std::chrono::steady_clock::now();
  sender->reset();
  return std::chrono::steady_clock::now() - start < 4s ? kEnded : kTooSlow;
}

TEST(LostLink, TheSenderEndsAtOnceWhileANameIsLookedUp) {
  const testing::TempFolder folder;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(end_during_lookup(folder.path()));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNotAllowed) GTEST_SKIP() << "a network of its own takes root";
  EXPECT_EQ(WEXITSTATUS(status), kEnded);
}

}  // namespace
}  // namespace assay::promapi
