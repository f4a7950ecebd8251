// SPDX-License-Identifier: Apache-2.0
// Report your app's own numbers to the Assay profiler. One header, C++11, Linux, no dependencies:
//
//     assay::client::LiveMetrics metrics;
//     {
//       auto timing = metrics.timer("latency");
//       ...
//     }
//     metrics.rate("fps");          // once per frame
//     metrics.push("objects", 12);
//
// Nothing here blocks, throws or prints: without a profiler, or with one that is slow or dies,
// values are dropped and counted. See docs/self-reported-metrics.md.
#pragma once

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace assay {
namespace client {

enum class Kind { number, timer, rate, counter };

/// The memory that a profiler shares with one client, version 1: made by the profiler, sealed
/// against growing and shrinking, zero at first. Numbers are in the machine's byte order.
///
/// A client says "{}", which means nothing to a profiler that does not know this. One that does
/// answers with an Offer and the memory's descriptor. The client then names each metric once, by a
/// JSON message on the socket: {"objects": {"kind": "number", "slot": 3}} for values that come as
/// events of that slot, {"latency": {"kind": "timer", "histogram": 0}} for a histogram.
///
/// Events go through lanes, each a ring with one writer at a time: a writer fills the place of its
/// head, then stores head + 1; the profiler stores as tail how far it has read. An event is a word
/// (head + 1) << 32 | slot, then value and Unix seconds as doubles. What finds a lane full is
/// dropped and counted there. Whenever a lane is found half full, a line feed on the socket asks
/// the profiler to read. Durations are counted in a histogram's buckets, without order.
namespace shared {
constexpr uint32_t kMagic = 0x59415341;
constexpr uint32_t kVersion = 1;
constexpr size_t kLanes = 8;
constexpr size_t kEvents = 1024;  ///< in a lane
constexpr size_t kEventBytes = 24;
constexpr size_t kHistograms = 64;
constexpr size_t kGroups = 44;  ///< doublings of time in a histogram
constexpr size_t kGroupSize = 64;
constexpr size_t kBuckets = kGroups * kGroupSize;  ///< of 32 bits each

constexpr size_t kLanesInUse = 0;  ///< a bit each
constexpr size_t kFirstLane = 64;
constexpr size_t kLaneBytes = 128;
constexpr size_t kHead = 0;
constexpr size_t kDropped = 8;
constexpr size_t kTail = 64;
constexpr size_t kFirstHistogram = kFirstLane + kLanes * kLaneBytes;
constexpr size_t kHistogramBytes = 64;
constexpr size_t kSum = 0;          ///< of nanoseconds, at least one for each duration
constexpr size_t kGroupsInUse = 8;  ///< a bit each
constexpr size_t kFirstEvent = 8192;
constexpr size_t kFirstBucket = kFirstEvent + kLanes * kEvents * kEventBytes;
constexpr size_t kBytes = kFirstBucket + kHistograms * kBuckets * 4;

constexpr uint32_t kTimersAreHistograms = 1;  ///< a flag: the profiler wants no event for each
struct Offer {
  uint32_t magic;
  uint32_t version;
  uint32_t bytes;
  uint32_t flags;
};

/// The leading bits of the nanoseconds as a float: 64 buckets to each doubling.
inline size_t bucket_of(int64_t nanoseconds) {
  const float length = static_cast<float>(nanoseconds < 1 ? 1 : nanoseconds);
  uint32_t bits = 0;
  std::memcpy(&bits, &length, sizeof bits);
  const size_t bucket = (bits >> 17) - (127U << 6);
  return bucket < kBuckets ? bucket : kBuckets - 1;
}
}  // namespace shared

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
  return fd;
}

inline const char* name_of(Kind kind) {
  if (kind == Kind::timer) return "timer";
  if (kind == Kind::rate) return "rate";
  return kind == Kind::counter ? "counter" : "number";
}

struct Metric {
  std::string quoted_name;
  Kind kind = Kind::number;
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
  std::mutex mutex;
  int fd = -1;
  unsigned connection = 1;
  std::string buffer;
  Clock::time_point next_flush;
  Clock::time_point next_attempt;
  unsigned sends_left = 0;
  std::map<std::string, Metric> metrics;
  Metric nameless;  ///< stands for all names that are too many; what it reports is dropped
  std::map<std::pair<std::thread::id, std::string>, Clock::time_point> started;
};

}  // namespace detail

class LiveMetrics;

/// Reports the seconds from its making to its end.
class Timing {
 public:
  Timing(LiveMetrics& metrics, const char* name) noexcept
      : metrics_(&metrics), name_(name), began_(detail::Clock::now()) {}
  Timing(Timing&& other) noexcept
      : metrics_(other.metrics_), name_(other.name_), began_(other.began_) {
    other.metrics_ = nullptr;
  }
  Timing(const Timing&) = delete;
  Timing& operator=(const Timing&) = delete;
  inline ~Timing();

 private:
  LiveMetrics* metrics_;
  const char* name_;  ///< must outlive the timing; usually a literal
  detail::Clock::time_point began_;
};

/// Thread-safe, fork-safe; `window` is the seconds that rates are averaged over.
class LiveMetrics {
 public:
  /// Without a path: $ASSAY_SOCKET, else /metrics/live_metrics.sock.
  explicit LiveMetrics(const char* socket_path = nullptr, double window = 1.0) noexcept
      : window_(window > 0 ? window : 1.0), state_(new (std::nothrow) detail::State) {
    guarded([&] {
      const char* path = socket_path != nullptr ? socket_path : std::getenv("ASSAY_SOCKET");
      path_ = path != nullptr && *path != '\0' ? path : "/metrics/live_metrics.sock";
    });
  }
  ~LiveMetrics() {
    close();
    delete state_.load();
  }
  LiveMetrics(const LiveMetrics&) = delete;
  LiveMetrics& operator=(const LiveMetrics&) = delete;

  /// Reports a number as it is.
  void push(const char* name, double value) noexcept {
    locked([&](detail::State& s) { report(s, metric(s, name, Kind::number), value); });
  }

  /// The same with its unit: any text, of which times and sizes ("ms", "MiB") are understood.
  void push(const char* name, double value, const char* unit) noexcept {
    locked([&](detail::State& s) {
      report(s, metric(s, name, Kind::number), value, ", \"unit\": " + detail::quoted(unit));
    });
  }

  /// Starts a timer; each thread has its own of that name.
  void start_timer(const char* name) noexcept {
    locked([&](detail::State& s) {
      if (s.started.size() >= detail::kMaxStarted) {
        ++dropped_;
        return;
      }
      s.started[std::make_pair(std::this_thread::get_id(), name)] = detail::Clock::now();
    });
  }

  /// Reports the seconds since start_timer; without one it counts as dropped.
  void stop_timer(const char* name) noexcept {
    const auto now = detail::Clock::now();
    locked([&](detail::State& s) {
      const auto found = s.started.find(std::make_pair(std::this_thread::get_id(), name));
      if (found == s.started.end()) {
        ++dropped_;
        return;
      }
      const auto began = found->second;
      s.started.erase(found);
      report(s, metric(s, name, Kind::timer), std::chrono::duration<double>(now - began).count());
    });
  }

  /// `auto timing = metrics.timer("latency");` reports when `timing` ends.
  Timing timer(const char* name) noexcept { return Timing(*this, name); }

  /// Reports a duration that the app measured itself.
  void timed(const char* name, double seconds) noexcept {
    locked([&](detail::State& s) { report(s, metric(s, name, Kind::timer), seconds); });
  }

  /// Counts `n` events; reports events per second once per window.
  void rate(const char* name, double n = 1) noexcept {
    const auto now = detail::Clock::now();
    locked([&](detail::State& s) {
      detail::Metric& m = metric(s, name, Kind::rate);
      if (!m.counting) {
        // The first event opens the window: n events have n - 1 distances.
        m.counting = true;
        m.since = now;
        return;
      }
      m.events += n;
      const double elapsed = std::chrono::duration<double>(now - m.since).count();
      if (elapsed >= window_) report_rate(s, m, elapsed, now);
    });
  }

  /// Adds to a total and reports it.
  void counter(const char* name, double n = 1) noexcept {
    locked([&](detail::State& s) {
      detail::Metric& m = metric(s, name, Kind::counter);
      if (std::isfinite(m.total + n)) m.total += n;
      report(s, m, std::isfinite(n) ? m.total : n);
    });
  }

  /// Sends now what still waits for company: of more than 32 values within 50 ms those after the
  /// first 32, until the next value that comes later.
  void flush() noexcept {
    locked([&](detail::State& s) { send(s, detail::Clock::now()); });
  }

  /// Reports what rates have gathered and closes the connection; the next value opens a new one.
  void close() noexcept {
    locked([&](detail::State& s) {
      const auto now = detail::Clock::now();
      for (auto& named : s.metrics) {
        detail::Metric& m = named.second;
        const double elapsed = std::chrono::duration<double>(now - m.since).count();
        // A scrap of a window would be a noisy value beside whole ones.
        const bool worth = !m.reported || elapsed >= window_ / 2;
        if (m.counting && m.events > 0 && elapsed > 0 && worth) report_rate(s, m, elapsed, now);
        m.counting = false;
      }
      send(s, now);
      disconnect(s);
      s.next_attempt = detail::Clock::time_point();
    });
  }

  /// Values that could not be reported so far.
  uint64_t dropped() const noexcept { return dropped_; }

 private:
  template <class F>
  void guarded(F work) noexcept {
    try {
      work();
    } catch (...) {
      ++dropped_;
    }
  }

  template <class F>
  void locked(F work) noexcept {
    guarded([&] {
      detail::State* s = state_of_this_process();
      if (s == nullptr) {
        ++dropped_;
        return;
      }
      const std::lock_guard<std::mutex> lock(s->mutex);
      work(*s);
    });
  }

  /// A child's memory holds its parent's state, whose lock may be held by a thread that does not
  /// exist here: it is left as it is, but for the connection.
  detail::State* state_of_this_process() {
    detail::State* s = state_.load(std::memory_order_acquire);
    if (s == nullptr || s->pid == ::getpid()) return s;
    detail::State* fresh = new (std::nothrow) detail::State;
    if (fresh == nullptr) return nullptr;
    if (state_.compare_exchange_strong(s, fresh)) {
      if (s->fd >= 0) ::close(s->fd);
      return fresh;
    }
    delete fresh;
    return s;
  }

  static detail::Metric& metric(detail::State& s, const char* name, Kind kind) {
    const auto found = s.metrics.find(name);
    if (found != s.metrics.end()) return found->second;
    if (s.metrics.size() >= detail::kMaxNames) return s.nameless;
    detail::Metric& made = s.metrics[name];
    const size_t length = std::strlen(name);
    if (length > 0 && length <= detail::kMaxName) made.quoted_name = detail::quoted(name);
    made.kind = kind;
    return made;
  }

  void report_rate(detail::State& s, detail::Metric& m, double elapsed,
                   detail::Clock::time_point now) {
    report(s, m, m.events / elapsed);
    m.events = 0;
    m.since = now;
    m.reported = true;
  }

  void report(detail::State& s, detail::Metric& m, double value,
              const std::string& unit = std::string()) {
    const auto now = detail::Clock::now();
    const bool absent = s.fd < 0 && now < s.next_attempt;
    const size_t length = m.quoted_name.size() + unit.size() + 128;
    const bool full = s.buffer.size() + length > detail::kBufferBytes;
    if (absent || full || !std::isfinite(value) || m.quoted_name.empty()) {
      ++dropped_;
    } else {
      append(s, m, value, unit);
    }
    send_if_due(s, now);
  }

  /// The first values of each interval go at once, so that no timer is needed for what nothing
  /// follows; only an app that reports more has some of them travel together.
  void send_if_due(detail::State& s, detail::Clock::time_point now) {
    if (now >= s.next_flush) {
      s.next_flush = now + detail::flush_interval();
      s.sends_left = detail::kSendsAtOnce;
    }
    const bool at_once = s.sends_left > 0;
    if (at_once) --s.sends_left;
    if (at_once || s.buffer.size() >= detail::kFlushBytes) send(s, now);
  }

  static void append(detail::State& s, detail::Metric& m, double value, const std::string& unit) {
    char text[128];
    std::snprintf(text, sizeof text, "%.17g", value);
    detail::use_decimal_point(text);
    s.buffer.append("{").append(m.quoted_name).append(": {");
    if (m.told != s.connection && m.kind != Kind::number) {
      s.buffer.append("\"kind\": \"").append(detail::name_of(m.kind)).append("\", ");
    }
    m.told = s.connection;
    s.buffer.append("\"value\": ").append(text).append(unit);
    timespec wall = {};
    ::clock_gettime(CLOCK_REALTIME, &wall);
    std::snprintf(text, sizeof text, ", \"timestamp\": %lld.%06ld}}\n\n",
                  static_cast<long long>(wall.tv_sec), static_cast<long>(wall.tv_nsec / 1000));
    s.buffer.append(text);
  }

  void send(detail::State& s, detail::Clock::time_point now) {
    if (s.buffer.empty()) return;
    if (s.fd < 0 && now >= s.next_attempt) s.fd = detail::connect_to(path_);
    if (s.fd < 0) return disconnect(s);
    size_t sent = 0;
    while (sent < s.buffer.size()) {
      const ssize_t n =
          ::send(s.fd, s.buffer.data() + sent, s.buffer.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n > 0) {
        sent += static_cast<size_t>(n);
        continue;
      }
      if (errno == EINTR) continue;
      s.buffer.erase(0, sent);
      if (errno != EAGAIN && errno != ENOBUFS) disconnect(s);
      return;
    }
    s.buffer.clear();
  }

  /// What waits is lost, and a new connection is tried in a while.
  void disconnect(detail::State& s) {
    for (size_t at = s.buffer.find("\n\n"); at != std::string::npos;
         at = s.buffer.find("\n\n", at + 2)) {
      ++dropped_;
    }
    s.buffer.clear();
    if (s.fd >= 0) ::close(s.fd);
    s.fd = -1;
    ++s.connection;
    s.next_attempt = detail::Clock::now() + detail::retry_interval();
  }

  std::string path_;
  double window_;
  std::atomic<detail::State*> state_;
  std::atomic<uint64_t> dropped_{0};
};

Timing::~Timing() {
  if (metrics_ == nullptr) return;
  const detail::Clock::duration taken = detail::Clock::now() - began_;
  metrics_->timed(name_, std::chrono::duration<double>(taken).count());
}

}  // namespace client
}  // namespace assay
