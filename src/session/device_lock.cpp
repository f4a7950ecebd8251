// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <assay/session/device_lock.h>

namespace assay::session {
namespace fs = std::filesystem;
namespace {

using SteadyClock = std::chrono::steady_clock;
/// The kernel tells nobody when a lock becomes free that is asked for without blocking.
constexpr Milliseconds kLookAgain{100};
constexpr size_t kLongestHolder = 200;
constexpr int kMostOpens = 10;
constexpr int kMode = 0666;

int open_file(const fs::path& path, int flags) {
  return ::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, kMode);
}

/// Whoever comes first makes it for all users. Opening never creates: in a shared folder the kernel
/// refuses that for a file that another user made.
Fd open_or_make(const fs::path& path) {
  for (int i = 0; i < kMostOpens; ++i) {
    Fd file(open_file(path, O_RDWR));
    if (!file.valid() && errno == EACCES) file = Fd(open_file(path, O_RDONLY));
    if (file.valid() || errno != ENOENT) return file;
    file = Fd(open_file(path, O_RDWR | O_CREAT | O_EXCL));
    if (file.valid()) ::fchmod(file.get(), kMode);
    if (file.valid() || errno != EEXIST) return file;
  }
  return {};
}

bool try_next_place(int error) {
  return error == EACCES || error == EPERM || error == EROFS || error == ENOENT ||
         error == ENOTDIR || error == ENOSPC;
}

struct LockFile {
  Fd file;
  fs::path path;
};

/// A link of its name, or another name of it, could make us write into somebody's file.
Result<void> check_plain(const LockFile& lock) {
  struct stat info {};
  if (::fstat(lock.file.get(), &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink <= 1)
    return {};
  return refused(fmt::format(
      "{} should be a plain file for the lock of this device; remove it, or run with --no-lock",
      lock.path.native()));
}

Result<LockFile> open_first(const std::vector<fs::path>& files) {
  int error = ENOENT;
  for (const auto& path : files) {
    Fd file = open_or_make(path);
    error = errno;
    if (file.valid()) {
      LockFile lock{std::move(file), path};
      ASSAY_CHECK(check_plain(lock));
      return lock;
    }
    if (!try_next_place(error)) break;
  }
  return refused_errno(
      fmt::format("cannot open a lock for this device at {}; run with --no-lock to go without",
                  files.empty() ? "" : files.back().native()),
      error);
}

/// What its holder wrote; anybody can write there.
std::string holder_of(int file) {
  std::array<char, kLongestHolder> buffer{};
  const ssize_t size = ::pread(file, buffer.data(), buffer.size(), 0);
  std::string text(buffer.data(), static_cast<size_t>(std::max<ssize_t>(0, size)));
  text.resize(std::min(text.size(), text.find('\n')));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7F; }, '?');
  return text.empty() ? "another session" : text;
}

/// Only for messages; where it cannot be written, they say less.
bool write_text(int file, std::string_view text) {
  return ::ftruncate(file, 0) == 0 &&
         ::pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

void tell_others(int file, const std::string& who) {
  const std::string text = fmt::format("{} (pid {}, uid {}, since {})\n", who, ::getpid(),
                                       ::getuid(), format_utc(SystemClock().now()));
  write_text(file, text);
}

bool lock_now(int file) {
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

/// Whether the file that we hold is still the one that others will find.
bool is_still_there(const LockFile& lock) {
  struct stat ours {};
  struct stat found {};
  return ::fstat(lock.file.get(), &ours) == 0 && ::lstat(lock.path.c_str(), &found) == 0 &&
         ours.st_ino == found.st_ino && ours.st_dev == found.st_dev;
}

/// True when interrupted.
bool wait_a_little(int interrupt_fd, Milliseconds time) {
  pollfd waiting = {interrupt_fd, POLLIN, 0};
  return ::poll(&waiting, 1, static_cast<int>(time.count())) == 1;
}

Failure busy(const std::string& holder, Nanoseconds patience) {
  const std::string still = patience > Nanoseconds(0)
                                ? fmt::format("still in use after {}", format_duration(patience))
                                : "in use";
  return fail({ErrorKind::environment,
               fmt::format("this device is {} by {}; wait for it with --wait (or --wait "
                           "10m at most), or run beside it with --no-lock, which disturbs both",
                           still, holder),
               true});
}

std::string note_of(const LockFile& lock, const std::vector<fs::path>& files, const SysRoot& root) {
  if (lock.path != files.front()) {
    return fmt::format(
        "the lock of this device is {}, as {} cannot be written; sessions that use "
        "the latter do not wait for this one",
        lock.path.native(), files.front().native());
  }
  const bool chosen = files.size() == 1;
  if (chosen) return "";
  if (root.exists("/.dockerenv") || root.exists("/run/.containerenv")) {
    return fmt::format(
        "in a container only sessions that see the same {} wait for each other; "
        "mount the machine's to share it",
        lock.path.native());
  }
  return "";
}

/// Tries until it has the lock, is out of patience or interrupted.
class Queue {
 public:
  explicit Queue(const LockWait& wait) : wait_(wait), start_(SteadyClock::now()) {}

  Result<LockFile> lock(const std::vector<fs::path>& files) {
    ASSAY_TRY(auto lock, open_first(files));
    while (true) {
      if (!lock_now(lock.file.get())) {
        ASSAY_CHECK(wait(holder_of(lock.file.get())));
      } else if (is_still_there(lock)) {
        return lock;
      } else {
        ASSAY_TRY(lock, open_first(files));
      }
    }
  }

 private:
  Result<void> wait(const std::string& holder) {
    const Nanoseconds waited = SteadyClock::now() - start_;
    if (waited >= wait_.patience) return busy(holder, wait_.patience);
    if (told_ != holder && wait_.on_wait) wait_.on_wait(holder);
    told_ = holder;
    const auto left = std::chrono::ceil<Milliseconds>(wait_.patience - waited);
    if (wait_a_little(wait_.interrupt_fd, std::min(left, kLookAgain)))
      return refused("interrupted while waiting for " + holder);
    return {};
  }

  const LockWait& wait_;
  SteadyClock::time_point start_;
  std::optional<std::string> told_;
};

}  // namespace

std::vector<fs::path> lock_files() {
  if (const char* named = std::getenv("ASSAY_LOCK"); named != nullptr && *named != '\0')
    return {named};
  return {"/run/lock/assay.lock", "/tmp/assay.lock"};
}

Result<DeviceLock> DeviceLock::acquire(const std::string& who, const LockWait& wait,
                                       const std::vector<fs::path>& files, const SysRoot& root) {
  ASSAY_TRY(auto lock, Queue(wait).lock(files));
  tell_others(lock.file.get(), who);
  return DeviceLock(std::move(lock.file), note_of(lock, files, root));
}

DeviceLock::~DeviceLock() {
  if (!file_.valid()) return;
  write_text(file_.get(), "");
  // Also for a child that is between fork and exec.
  ::flock(file_.get(), LOCK_UN);
}

}  // namespace assay::session
