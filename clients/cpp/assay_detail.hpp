// SPDX-License-Identifier: Apache-2.0
// What LiveMetrics is made of; include assay.hpp.
#pragma once

#include "assay_shared.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <pthread.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace assay {
namespace client {

enum class Kind { number, timer, rate, counter };

namespace detail {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxName = 128;
constexpr size_t kBufferBytes = 262144;  ///< what waits while the profiler is slow
constexpr size_t kFlushBytes = 32768;
constexpr unsigned kSendsAtOnce = 32;   ///< in each flush interval; further values wait
constexpr size_t kMaxNames = 1000;      ///< as many as the profiler takes
constexpr size_t kMaxStarted = 100000;  ///< timers that were started and not stopped
inline Clock::duration flush_interval() {
  return std::chrono::milliseconds(50);
}
inline Clock::duration retry_interval() {
  return std::chrono::seconds(1);
}
constexpr int64_t kLookInterval = 1000000000;  ///< ns between looks whether the profiler lives
constexpr int64_t kAnswerInterval = 50000000;  ///< ns between looks for its answer

inline int64_t nanoseconds(clockid_t clock) noexcept {
  timespec t;
  ::clock_gettime(clock, &t);
  return static_cast<int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}
inline int64_t now_ns() noexcept {
  return nanoseconds(CLOCK_MONOTONIC);
}

/// Counts the forks that led to this process: asking for its pid would cost more than a timer may.
template <class T>
struct Forks {
  static std::atomic<unsigned> count;
};
template <class T>
std::atomic<unsigned> Forks<T>::count(0);
inline unsigned forks() noexcept {
  return Forks<void>::count.load(std::memory_order_relaxed);
}
inline void count_forks() {
  static int counted = ::pthread_atfork(nullptr, nullptr, [] { ++Forks<void>::count; });
  static_cast<void>(counted);
}

/// What the app calls itself.
inline std::string app_name() {
  const char* const name = std::getenv("ASSAY_APP");
  return std::string(name != nullptr && *name != '\0' ? name : program_invocation_short_name)
      .substr(0, kMaxName);
}

inline std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// Makes a point of whatever the app's locale wrote in its place.
inline void use_decimal_point(char* text) {
  const char* from = text;
  for (bool in_point = false; *from != '\0'; ++from) {
    const char c = *from;
    const bool plain = (c >= '0' && c <= '9') || c == '-' || c == '+' || c == 'e';
    if (plain || !in_point) *text++ = plain ? c : '.';
    in_point = !plain;
  }
  *text = '\0';
}

/// A connected socket that never blocks, or -1.
inline int connect_to(const std::string& path) {
  sockaddr_un address;
  std::memset(&address, 0, sizeof address);
  address.sun_family = AF_UNIX;
  std::string reachable = path;
  int folder = -1;
  if (path.size() >= sizeof address.sun_path) {
    const size_t slash = path.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    folder = ::open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    reachable = "/proc/self/fd/" + std::to_string(folder) + "/" +
                path.substr(slash == std::string::npos ? 0 : slash + 1);
  }
  int fd = -1;
  if (reachable.size() < sizeof address.sun_path) {
    std::memcpy(address.sun_path, reachable.c_str(), reachable.size() + 1);
    fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  }
  if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(fd);
    fd = -1;
  }
  if (folder >= 0) ::close(folder);
  // Asks for shared memory; means nothing to a profiler that has none.
  if (fd >= 0) static_cast<void>(::send(fd, "{}\n\n", 4, MSG_DONTWAIT | MSG_NOSIGNAL));
  return fd;
}

inline const char* name_of(Kind kind) {
  if (kind == Kind::timer) return "timer";
  if (kind == Kind::rate) return "rate";
  return kind == Kind::counter ? "counter" : "number";
}

/// How a metric's values reach the profiler.
enum class Way { lines, events, histogram };

struct State;

struct Metric {
  State* owner = nullptr;
  std::string quoted_name;
  Kind kind = Kind::number;
  std::atomic<Way> way{Way::lines};
  uint32_t slot = 0;
  uint32_t histogram = shared::kHistograms;
  unsigned told = 0;  ///< the connection on which the profiler was told the kind
  double total = 0;
  double events = 0;
  bool counting = false;
  bool reported = false;
  Clock::time_point since;
};

/// All that one process has; a forked child makes its own.
struct State {
  const pid_t pid = ::getpid();
  const unsigned forks = detail::forks();
  shared::Memory memory;
  bool attached = false;
  bool timers_are_histograms = false;
  std::atomic<int64_t> next_look{0};     ///< until then nothing but the memory need be touched
  std::atomic<int64_t> absent_until{0};  ///< until then there is no profiler to look for
  std::atomic<int64_t> wall_offset{0};   ///< from the monotonic to the wall clock
  std::mutex mutex;
  int fd = -1;
  unsigned connection = 1;
  std::string buffer;
  Clock::time_point next_flush;
  Clock::time_point next_attempt;
  unsigned sends_left = 0;
  std::map<std::string, Metric> metrics;
  uint32_t histograms = 0;
  Metric nameless;  ///< stands for all names that are too many; what it reports is dropped
  std::map<std::pair<std::thread::id, std::string>, Clock::time_point> started;
};

}  // namespace detail

}  // namespace client
}  // namespace assay
