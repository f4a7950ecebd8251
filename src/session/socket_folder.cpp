// SPDX-License-Identifier: Apache-2.0
#include "socket_folder.h"

#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <assay/base/text.h>

namespace assay::session {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kPrefix = "assay-hooks-";

fs::path parent() {
  std::error_code error;
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && fs::is_directory(runtime, error) && ::access(runtime, W_OK) == 0)
    return runtime;
  return "/tmp";
}

/// Process ids mean something within one pid namespace only.
std::string pid_namespace() {
  std::error_code error;
  const std::string link = fs::read_symlink("/proc/self/ns/pid", error).native();
  const size_t from = link.find('[');
  return from == std::string::npos ? "0" : link.substr(from + 1, link.size() - from - 2);
}

bool owned_by_us(const fs::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::getuid();
}

}  // namespace

Result<std::unique_ptr<SocketFolder>> SocketFolder::make() {
  std::string pattern =
      parent() / fmt::format("{}{}-{}-XXXXXX", kPrefix, pid_namespace(), getpid());
  if (mkdtemp(pattern.data()) == nullptr) {
    return refused_errno(
        fmt::format("cannot make a folder for the hooks' socket in {}", parent().native()), errno);
  }
  return std::unique_ptr<SocketFolder>(new SocketFolder(pattern));
}

SocketFolder::~SocketFolder() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

int SocketFolder::remove_leftovers() {
  int removed = 0;
  std::error_code error;
  for (auto it = fs::directory_iterator(parent(), error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    const std::string name = it->path().filename();
    if (!name.starts_with(kPrefix)) continue;
    std::string_view rest = std::string_view(name).substr(kPrefix.size());
    const bool same_namespace = next_field(rest, '-') == pid_namespace();
    const auto pid = parse_int(next_field(rest, '-'));
    std::error_code ignored;
    if (!same_namespace || !owned_by_us(it->path()) || !pid ||
        fs::exists(fmt::format("/proc/{}", *pid), ignored))
      continue;
    if (fs::remove_all(it->path(), ignored) > 0 && !ignored) ++removed;
  }
  return removed;
}

}  // namespace assay::session
