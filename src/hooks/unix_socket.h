// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "recorder.h"

#include <filesystem>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <assay/base/files.h>
#include <assay/base/result.h>

namespace assay::hooks {

/// A listening socket whose file is removed with it, unless somebody else has put another there.
class ListeningSocket {
 public:
  /// Takes over a file that a dead server left; refuses to when a living one answers there.
  static Result<ListeningSocket> open(const std::filesystem::path& path);

  ListeningSocket(ListeningSocket&& other) noexcept = default;
  ListeningSocket& operator=(ListeningSocket&&) = delete;
  ~ListeningSocket();

  int get() const { return fd_.get(); }

 private:
  ListeningSocket(Fd fd, std::filesystem::path path, ino_t inode)
      : fd_(std::move(fd)), path_(std::move(path)), inode_(inode) {}

  Fd fd_;
  std::filesystem::path path_;
  ino_t inode_;
};

/// An address that may be used while `folder` is open: a path too long for one is reached through
/// its folder's descriptor.
struct SocketAddress {
  sockaddr_un raw{};
  Fd folder;

  static Result<SocketAddress> of(const std::filesystem::path& path);
  const sockaddr* get() const;
};

/// Who is at the other end of a connection.
Caller caller_of(int connection);

}  // namespace assay::hooks
