// SPDX-License-Identifier: Apache-2.0
#include "body_file.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <string>

namespace assay::net {

using boost::system::error_code;

Result<std::filesystem::path> make_body_file(const std::filesystem::path& folder) {
  std::string name = (folder / "body-XXXXXX").native();
  const Fd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd.valid()) return refused_errno("the request cannot be kept", errno);
  return std::filesystem::path(name);
}

boost::asio::awaitable<error_code> write_piece(std::shared_ptr<BodyFile> body, size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    const ssize_t n = ::write(body->file.get(), body->piece.data() + done, bytes - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) co_return error_code(errno, boost::system::generic_category());
    done += static_cast<size_t>(n);
  }
  co_return error_code();
}

}  // namespace assay::net
