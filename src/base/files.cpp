// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/base/text.h>

namespace assay {
namespace fs = std::filesystem;

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int Fd::release() {
  return std::exchange(fd_, -1);
}

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

namespace {

Result<Fd> open_to_read(const fs::path& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return refused_errno(fmt::format("cannot open {}", path.native()), errno);
  return fd;
}

}  // namespace

Result<std::string> read_file(const fs::path& path, size_t limit) {
  ASSAY_TRY(Fd fd, open_to_read(path));
  std::string text;
  char chunk[16384];
  while (true) {
    const ssize_t n = ::read(fd.get(), chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return refused_errno(fmt::format("cannot read {}", path.native()), errno);
    if (n == 0) return text;
    if (text.size() + static_cast<size_t>(n) > limit) {
      return bad_input(fmt::format("{} is larger than {}", path.native(),
                                   format_bytes(static_cast<double>(limit))));
    }
    text.append(chunk, static_cast<size_t>(n));
  }
}

Result<void> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return refused_errno("cannot write", errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

namespace {

constexpr int kMostLinks = 40;
constexpr int kMostNames = 1000;

fs::path behind_links(fs::path path) {
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(path, error); ++i)
    path = path.parent_path() / fs::read_symlink(path, error);
  return path;
}

Result<void> write_in_place(const fs::path& path, std::string_view content) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd.valid()) return refused_errno(fmt::format("cannot write {}", path.native()), errno);
  if (auto written = write_all(fd.get(), content); !written)
    return refused(fmt::format("{}: {}", path.native(), written.error().message));
  return {};
}

/// A new file beside `path`, with the mode that the umask gives.
Result<Fd> create_beside(const fs::path& path, std::string& name) {
  for (int i = 0; i < kMostNames; ++i) {
    name = fmt::format("{}.{}-{}", path.native(), ::getpid(), i);
    Fd fd(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd.valid()) return fd;
    if (errno != EEXIST) break;
  }
  return refused_errno(fmt::format("cannot create {}", path.native()), errno);
}

Result<void> replace(const fs::path& path, std::string_view content) {
  std::string temporary;
  ASSAY_TRY(const Fd fd, create_beside(path, temporary));
  struct stat old = {};
  if (::stat(path.c_str(), &old) == 0) ::fchmod(fd.get(), old.st_mode & 07777);
  if (auto written = write_all(fd.get(), content); !written) {
    ::unlink(temporary.c_str());
    return refused(fmt::format("{}: {}", path.native(), written.error().message));
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary.c_str());
    return refused_errno(fmt::format("cannot write {}", path.native()), error);
  }
  return {};
}

}  // namespace

Result<void> write_file(const fs::path& path, std::string_view content) {
  std::error_code error;
  const fs::path real = behind_links(path);
  // Where /dev/stdout leads to may have no name at all.
  if (fs::exists(path, error) && !fs::is_regular_file(real, error))
    return write_in_place(path, content);
  return replace(real, content);
}

bool is_executable(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

bool is_in_path(const std::string& program, std::string_view path, const fs::path& folder) {
  while (!path.empty()) {
    if (is_executable(folder / next_field(path, ':') / program)) return true;
  }
  return false;
}

SysRoot::SysRoot(fs::path prefix) : prefix_(prefix == "/" ? fs::path() : std::move(prefix)) {}

fs::path SysRoot::path(std::string_view absolute) const {
  return fs::path(prefix_.native() + std::string(absolute));
}

Result<Fd> SysRoot::open(std::string_view absolute) const {
  return open_to_read(path(absolute));
}

Result<std::string> SysRoot::read(std::string_view absolute) const {
  ASSAY_TRY(std::string text, read_file(path(absolute), 4U << 20U));
  // Device-tree strings end in a NUL byte.
  while (!text.empty() &&
         (text.back() == '\0' || std::isspace(static_cast<unsigned char>(text.back())))) {
    text.pop_back();
  }
  return text;
}

bool SysRoot::exists(std::string_view absolute) const {
  std::error_code ignored;
  return fs::exists(path(absolute), ignored);
}

std::vector<std::string> SysRoot::list(std::string_view absolute) const {
  std::vector<std::string> names;
  std::error_code error;
  for (auto it = fs::directory_iterator(path(absolute), error);
       !error && it != fs::directory_iterator(); it.increment(error)) {
    names.push_back(it->path().filename().native());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string_view> pread_text(int fd, std::span<char> buffer) {
  size_t filled = 0;
  while (filled < buffer.size()) {
    const ssize_t n =
        ::pread(fd, buffer.data() + filled, buffer.size() - filled, static_cast<off_t>(filled));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return std::nullopt;
    if (n == 0) break;
    filled += static_cast<size_t>(n);
  }
  return std::string_view(buffer.data(), filled);
}

namespace {

std::string home_from_password_file() {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> buffer{};
  getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found);
  return found != nullptr ? found->pw_dir : "/";
}

}  // namespace

fs::path data_home() {
  if (const char* xdg = std::getenv("XDG_DATA_HOME"); xdg != nullptr && *xdg == '/') {
    return fs::path(xdg) / "assay";
  }
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr && *home == '/' ? home : home_from_password_file()) /
         ".local/share/assay";
}

}  // namespace assay
