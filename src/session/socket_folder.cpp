// SPDX-License-Identifier: Apache-2.0
#include "socket_folder.h"

#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <assay/base/process_id.h>
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

/// Without the boot, for the path must be short; a start of the same tick in another boot only
/// means that a folder stays.
std::string owner_text() {
  ProcessId self = ProcessId::self(SysRoot());
  self.boot.clear();
  return self.text();
}

/// Whether a folder's name is that of a process that is gone.
bool is_leftover(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  const auto owner = ProcessId::parse(next_field(name, '-'));
  return owner && state_of(SysRoot(), *owner) == ProcessState::dead;
}

bool owned_by_us(const fs::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::getuid();
}

}  // namespace

Result<std::unique_ptr<SocketFolder>> SocketFolder::make() {
  std::string pattern = parent() / fmt::format("{}{}-XXXXXX", kPrefix, owner_text());
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

void SocketFolder::open_to_all() {
  std::error_code ignored;
  fs::permissions(folder_, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec,
                  ignored);
}

int SocketFolder::remove_leftovers() {
  int removed = 0;
  std::error_code error;
  for (auto it = fs::directory_iterator(parent(), error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    if (!is_leftover(it->path().filename().native()) || !owned_by_us(it->path())) continue;
    std::error_code ignored;
    if (fs::remove_all(it->path(), ignored) > 0 && !ignored) ++removed;
  }
  return removed;
}

}  // namespace assay::session
