// SPDX-License-Identifier: Apache-2.0
#include "unix_socket.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <assay/base/process_id.h>
#include <assay/base/text.h>

namespace assay::hooks {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMaxAddress = sizeof(sockaddr_un::sun_path) - 1;
constexpr int kBacklog = 128;

Fd new_socket() {
  return Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

std::optional<struct stat> status_of(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

/// Somebody accepts connections there (or would, were its queue not full).
bool answers(const SocketAddress& address) {
  const Fd fd = new_socket();
  return fd.valid() &&
         (::connect(fd.get(), address.get(), sizeof address.raw) == 0 || errno == EAGAIN);
}

Result<void> clear_the_way(const fs::path& path, const SocketAddress& address) {
  const auto status = status_of(path);
  if (!status) return {};
  if (!S_ISSOCK(status->st_mode)) {
    return refused(
        fmt::format("cannot make the metrics socket: {} exists and is not a socket; "
                    "remove it or choose another path",
                    path.native()));
  }
  if (answers(address)) {
    return refused(
        fmt::format("cannot make the metrics socket: another profiler listens at {}; "
                    "stop it or choose another path",
                    path.native()));
  }
  ::unlink(path.c_str());
  return {};
}

}  // namespace

Result<SocketAddress> SocketAddress::of(const fs::path& path) {
  SocketAddress address;
  std::string text = path.native();
  if (text.size() > kMaxAddress) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    address.folder = Fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!address.folder.valid()) {
      return refused_errno(
          fmt::format("cannot open the metrics socket's folder {}", folder.native()), errno);
    }
    text = fmt::format("/proc/self/fd/{}/{}", address.folder.get(), path.filename().native());
  }
  if (text.empty() || text.size() > kMaxAddress) {
    return bad_input(
        fmt::format("cannot make the metrics socket: the file name of '{}' is {}; "
                    "choose a shorter one",
                    path.native(), text.empty() ? "empty" : "too long"));
  }
  address.raw.sun_family = AF_UNIX;
  std::memcpy(address.raw.sun_path, text.c_str(), text.size() + 1);
  return address;
}

const sockaddr* SocketAddress::get() const {
  return reinterpret_cast<const sockaddr*>(&raw);
}

Result<ListeningSocket> ListeningSocket::open(const fs::path& path) {
  ASSAY_TRY(const SocketAddress address, SocketAddress::of(path));
  ASSAY_CHECK(clear_the_way(path, address));
  const auto failed = [&](int error) {
    return refused_errno(fmt::format("cannot make the metrics socket {}", path.native()), error);
  };
  Fd fd = new_socket();
  if (!fd.valid()) return failed(errno);
  if (::bind(fd.get(), address.get(), sizeof address.raw) != 0) return failed(errno);
  const auto status = status_of(path);
  ListeningSocket made(std::move(fd), path, status ? status->st_ino : 0);
  // Apps may run as any user; nobody can connect before listen(), so there is no window between.
  if (::chmod(path.c_str(), 0666) != 0) return failed(errno);
  if (::listen(made.get(), kBacklog) != 0) return failed(errno);
  return made;
}

ListeningSocket::~ListeningSocket() {
  if (!fd_.valid()) return;
  const auto status = status_of(path_);
  if (status && status->st_ino == inode_) ::unlink(path_.c_str());
}

Caller caller_of(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0) {
    return {0, "reported by a process of another container"};
  }
  Caller caller{peer.pid, fmt::format("reported by pid {}", peer.pid)};
  caller.uid = peer.uid;
  const auto stat = read_stat(SysRoot(), peer.pid);
  if (stat) caller.start_ticks = stat->start_ticks;
  const auto command = read_file(fmt::format("/proc/{}/comm", peer.pid), 256);
  const std::string_view name = command ? trim(*command) : "";
  if (!name.empty() && is_plain_text(name)) {
    caller.command = name;
    caller.source += fmt::format(" ({})", name);
  }
  return caller;
}

}  // namespace assay::hooks
