// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <filesystem>
#include <memory>
#include <unistd.h>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>

namespace assay::net {

/// A new, empty file for a body.
Result<std::filesystem::path> make_body_file(const std::filesystem::path& folder);

/// A body on its way to a file, piece by piece.
struct BodyFile {
  Fd file;
  std::vector<char> piece = std::vector<char>(kPiece);

  static constexpr size_t kPiece = 256U << 10U;
};

/// For a thread of its own: a disk may keep its callers waiting. Parameters of a coroutine live as
/// long as it does.
boost::asio::awaitable<boost::system::error_code> write_piece(std::shared_ptr<BodyFile> body,
                                                              size_t bytes);

/// Removes a body's file unless somebody has taken it.
class KeptFile {
 public:
  KeptFile() = default;
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;
  ~KeptFile() {
    if (!path.empty()) ::unlink(path.c_str());
  }
  std::filesystem::path path;
};

}  // namespace assay::net
