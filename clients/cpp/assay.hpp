// SPDX-License-Identifier: Apache-2.0
// Report your app's own numbers to the Assay profiler. C++11, Linux, no dependencies but the two
// headers beside this one:
//
//     assay::client::LiveMetrics metrics;
//     auto latency = metrics.timer_handle("latency");
//     {
//       auto timing = latency.time();
//       ...
//     }
//     metrics.rate("fps");          // once per frame
//     metrics.push("objects", 12);
//
// Nothing here blocks, throws or prints: without a profiler, or with one that is slow or dies,
// values are dropped and counted. See docs/self-reported-metrics.md.
#pragma once

#include "assay_detail.hpp"
#include "assay_shared.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace assay {
namespace client {

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

/// A metric that is looked up only once: for what is reported thousands of times a second. The
/// name, usually a literal, and the LiveMetrics must outlive it; threads may share one.
class Handle {
 public:
  Handle(const Handle& other) noexcept
      : metrics_(other.metrics_), name_(other.name_), kind_(other.kind_), metric_(nullptr) {}
  Handle& operator=(const Handle&) = delete;

 protected:
  Handle(LiveMetrics& metrics, const char* name, Kind kind) noexcept
      : metrics_(&metrics), name_(name), kind_(kind), metric_(nullptr) {}
  /// Nothing when the value has to take the slow way.
  inline detail::Metric* ready(int64_t now) const noexcept;
  inline void put(detail::Metric& metric, double value, int64_t now) noexcept;
  inline void report(double value, int64_t now) noexcept;

 private:
  LiveMetrics* metrics_;
  const char* name_;
  Kind kind_;
  std::atomic<detail::Metric*> metric_;
};

class NumberHandle : public Handle {
 public:
  inline void push(double value) noexcept;

 private:
  friend class LiveMetrics;
  NumberHandle(LiveMetrics& metrics, const char* name) noexcept
      : Handle(metrics, name, Kind::number) {}
};

/// `auto timing = handle.time();` reports when `timing` ends; so does `handle.stop(began)` with
/// what `handle.start()` gave.
class TimerHandle : public Handle {
 public:
  class Scope {
   public:
    explicit Scope(TimerHandle& timer) noexcept : timer_(&timer), began_(start()) {}
    Scope(Scope&& other) noexcept : timer_(other.timer_), began_(other.began_) {
      other.timer_ = nullptr;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() {
      if (timer_ != nullptr) timer_->stop(began_);
    }

   private:
    TimerHandle* timer_;
    int64_t began_;
  };

  static int64_t start() noexcept { return detail::now_ns(); }
  inline void stop(int64_t began) noexcept;
  Scope time() noexcept { return Scope(*this); }

 private:
  friend class LiveMetrics;
  TimerHandle(LiveMetrics& metrics, const char* name) noexcept
      : Handle(metrics, name, Kind::timer) {}
};

/// Thread-safe, fork-safe; `window` is the seconds that rates are averaged over.
class LiveMetrics {
 public:
  /// Without a path: $ASSAY_SOCKET, else /metrics/live_metrics.sock.
  explicit LiveMetrics(const char* socket_path = nullptr, double window = 1.0) noexcept
      : window_(window > 0 ? window : 1.0), state_(new (std::nothrow) detail::State) {
    guarded([&] {
      detail::count_forks();
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

  /// The fast way to report often.
  TimerHandle timer_handle(const char* name) noexcept { return TimerHandle(*this, name); }
  NumberHandle number_handle(const char* name) noexcept { return NumberHandle(*this, name); }

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
      s.absent_until = 0;
    });
  }

  /// Values that could not be reported so far.
  uint64_t dropped() const noexcept { return dropped_; }

 private:
  friend class Handle;

  static constexpr double kLongest = 1e6;  ///< seconds that can be counted in a histogram

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
      s->memory.unmap();
      return fresh;
    }
    delete fresh;
    return s;
  }

  static detail::Metric& metric(detail::State& s, const char* name, Kind kind) {
    const auto found = s.metrics.find(name);
    if (found != s.metrics.end()) return found->second;
    if (s.metrics.size() >= detail::kMaxNames) return s.nameless;
    const auto slot = static_cast<uint32_t>(s.metrics.size());
    detail::Metric& made = s.metrics[name];
    made.owner = &s;
    made.slot = slot;
    if (kind == Kind::timer && s.histograms < shared::kHistograms) made.histogram = s.histograms++;
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
    look_if_due(s, now);
    if (unit.empty() && report_fast(s, m, value, now)) return;
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

  /// Through shared memory; false when there is none, or the value is not fit for it.
  bool report_fast(detail::State& s, detail::Metric& m, double value,
                   detail::Clock::time_point now) {
    if (!s.attached || !std::isfinite(value) || m.quoted_name.empty()) return false;
    if (m.way == detail::Way::lines && !name_it(s, m, now)) return false;
    if (m.way == detail::Way::histogram) {
      if (!(value >= 0 && value <= kLongest)) return false;
      s.memory.add(m.histogram, static_cast<int64_t>(value * 1e9));
      return true;
    }
    count(s, s.memory.put(m.slot, value,
                          1e-9 * static_cast<double>(detail::now_ns() + s.wall_offset)));
    return true;
  }

  /// Tells by which number the metric goes in shared memory; what was reported before must be gone.
  bool name_it(detail::State& s, detail::Metric& m, detail::Clock::time_point now) {
    send(s, now);
    if (!s.buffer.empty() || s.fd < 0) return false;
    const bool counts =
        m.kind == Kind::timer && s.timers_are_histograms && m.histogram < shared::kHistograms;
    s.buffer.append("{").append(m.quoted_name).append(": {\"kind\": \"");
    s.buffer.append(detail::name_of(m.kind))
        .append(counts ? "\", \"histogram\": " : "\", \"slot\": ");
    s.buffer.append(std::to_string(counts ? m.histogram : m.slot)).append("}}\n");
    send(s, now);
    if (!s.buffer.empty() || s.fd < 0) return false;
    m.way = counts ? detail::Way::histogram : detail::Way::events;
    return true;
  }

  void count(detail::State& s, shared::Memory::Put put) {
    if (put == shared::Memory::Put::dropped) ++dropped_;
    // A line feed between messages asks the profiler to read what is there.
    if (put == shared::Memory::Put::half_full && s.fd >= 0 && s.buffer.empty()) {
      static_cast<void>(::send(s.fd, "\n", 1, MSG_DONTWAIT | MSG_NOSIGNAL));
    }
  }

  /// Looks now and then whether the profiler lives, and for its answer.
  void look_if_due(detail::State& s, detail::Clock::time_point time) {
    const int64_t now = detail::now_ns();
    if (s.fd < 0 || now < s.next_look) return;
    const shared::Answer answer = shared::receive(s.fd);
    const bool waits = answer.n < 0 && (errno == EAGAIN || errno == EINTR);
    if (answer.n <= 0 && !waits) return disconnect(s);
    if (answer.n == sizeof answer.offer && answer.fd >= 0 && !s.attached &&
        s.memory.attach(answer.offer, answer.fd)) {
      s.attached = true;
      s.timers_are_histograms = (answer.offer.flags & shared::kTimersAreHistograms) != 0;
      s.buffer.append("{" + detail::quoted(detail::app_name()) + ": {\"kind\": \"app\"}}\n");
    }
    if (answer.fd >= 0) ::close(answer.fd);
    s.wall_offset = detail::nanoseconds(CLOCK_REALTIME) - now;
    s.next_look = now + (s.attached ? detail::kLookInterval : detail::kAnswerInterval);
    if (s.attached) send(s, time);
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
    if (s.attached) s.memory.detach();
    s.attached = false;
    s.next_look = 0;
    for (auto& named : s.metrics) named.second.way = detail::Way::lines;
    ++s.connection;
    s.next_attempt = detail::Clock::now() + detail::retry_interval();
    s.absent_until = detail::now_ns() + detail::kLookInterval;
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

detail::Metric* Handle::ready(int64_t now) const noexcept {
  const detail::State* const s = metrics_->state_.load(std::memory_order_acquire);
  detail::Metric* const m = metric_.load(std::memory_order_acquire);
  const bool fast = m != nullptr && m->owner == s && s->forks == detail::forks() &&
                    now < s->next_look.load(std::memory_order_relaxed) &&
                    m->way.load(std::memory_order_relaxed) != detail::Way::lines;
  return fast ? m : nullptr;
}

void Handle::put(detail::Metric& metric, double value, int64_t now) noexcept {
  detail::State& s = *metric.owner;
  const double time =
      1e-9 * static_cast<double>(now + s.wall_offset.load(std::memory_order_relaxed));
  const shared::Memory::Put put = s.memory.put(metric.slot, value, time);
  if (put == shared::Memory::Put::dropped) ++metrics_->dropped_;
  if (put != shared::Memory::Put::half_full) return;
  metrics_->locked([&](detail::State& state) { metrics_->count(state, put); });
}

void Handle::report(double value, int64_t now) noexcept {
  const detail::State* const state = metrics_->state_.load(std::memory_order_acquire);
  if (state != nullptr && state->forks == detail::forks() &&
      now < state->absent_until.load(std::memory_order_relaxed)) {
    ++metrics_->dropped_;
    return;
  }
  metrics_->locked([&](detail::State& s) {
    detail::Metric& m = LiveMetrics::metric(s, name_, kind_);
    metric_.store(&m, std::memory_order_release);
    metrics_->report(s, m, value);
  });
}

void NumberHandle::push(double value) noexcept {
  const int64_t now = detail::now_ns();
  detail::Metric* const m = std::isfinite(value) ? ready(now) : nullptr;
  if (m == nullptr) return report(value, now);
  put(*m, value, now);
}

void TimerHandle::stop(int64_t began) noexcept {
  const int64_t now = detail::now_ns();
  detail::Metric* const m = ready(now);
  if (m == nullptr) return report(1e-9 * static_cast<double>(now - began), now);
  if (m->way.load(std::memory_order_relaxed) != detail::Way::histogram) {
    return put(*m, 1e-9 * static_cast<double>(now - began), now);
  }
  m->owner->memory.add(m->histogram, now - began);
}

}  // namespace client
}  // namespace assay
