// SPDX-License-Identifier: Apache-2.0
// Report your app's own numbers to the Assay profiler. One header, C++11, Linux, no dependencies:
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

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <new>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace assay {
namespace client {

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

/// A descriptor that came with the profiler's answer; n is what recvmsg gave.
struct Answer {
  ssize_t n;
  Offer offer;
  int fd;
};

/// Takes what has come on the socket, without waiting.
inline Answer receive(int socket) {
  Answer answer = {0, {0, 0, 0, 0}, -1};
  iovec part = {&answer.offer, sizeof answer.offer};
  union {
    cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  msghdr message;
  std::memset(&message, 0, sizeof message);
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = sizeof control;
  answer.n = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  const cmsghdr* const header = answer.n > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof(int))) {
    std::memcpy(&answer.fd, CMSG_DATA(header), sizeof answer.fd);
  }
  return answer;
}

/// Numbers the threads that report.
inline unsigned thread_number() {
  static std::atomic<unsigned> next(0);
  static thread_local unsigned number = next++;
  return number;
}

/// An app's end. It stays at one address: while there is no profiler, memory of the app's own lies
/// there, so that a thread in the midst of reporting never meets a hole. Thread-safe; nobody waits.
class Memory {
 public:
  enum class Put { done, half_full, dropped };

  Memory() noexcept
      : base_(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, kPrivate, -1, 0)), busy_() {}
  ~Memory() { unmap(); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// Also for a forked child, which must not write into its parent's.
  void unmap() noexcept {
    if (base_ != MAP_FAILED) ::munmap(base_, kBytes);
    base_ = MAP_FAILED;
  }

  /// Only what nobody can cut short any more: touching a missing page would end the app.
  bool attach(const Offer& offer, int fd) noexcept {
    struct stat status;
    if (base_ == MAP_FAILED || offer.magic != kMagic || offer.version != kVersion ||
        offer.bytes != kBytes || ::fstat(fd, &status) != 0 ||
        status.st_size != static_cast<off_t>(kBytes) ||
        (::fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK) == 0) {
      return false;
    }
    return ::mmap(base_, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == base_;
  }

  void detach() noexcept {
    if (base_ == MAP_FAILED) return;
    (void)::mmap(base_, kBytes, PROT_READ | PROT_WRITE, kPrivate | MAP_FIXED, -1, 0);
  }

  /// Each thread has a lane of its own, as long as there are not too many.
  Put put(uint32_t slot, double value, double time) noexcept {
    const size_t first = thread_number();
    for (size_t i = 0; i < kLanes; ++i) {
      const size_t lane = (first + i) % kLanes;
      if (busy_[lane].flag.exchange(true, std::memory_order_acquire)) continue;
      const Put result = put_in(lane, slot, value, time);
      busy_[lane].flag.store(false, std::memory_order_release);
      return result;
    }
    return Put::dropped;
  }

  void add(size_t histogram, int64_t nanoseconds) noexcept {
    const size_t bucket = bucket_of(nanoseconds);
    const size_t head = kFirstHistogram + histogram * kHistogramBytes;
    mark(head + kGroupsInUse, uint64_t{1} << (bucket / kGroupSize));
    reinterpret_cast<std::atomic<uint32_t>*>(at(kFirstBucket + (histogram * kBuckets + bucket) * 4))
        ->fetch_add(1, std::memory_order_relaxed);
  }

 private:
  struct Busy {
    std::atomic<bool> flag;
    char apart[63];  ///< in cache lines of their own
  };
  static constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

  char* at(size_t offset) noexcept { return static_cast<char*>(base_) + offset; }
  std::atomic<uint64_t>& word(size_t offset) noexcept {
    return *reinterpret_cast<std::atomic<uint64_t>*>(at(offset));
  }
  void store(size_t offset, double value) noexcept {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    word(offset).store(bits, std::memory_order_relaxed);
  }
  void mark(size_t offset, uint64_t bit) noexcept {
    if ((word(offset).load(std::memory_order_relaxed) & bit) != 0) return;
    word(offset).fetch_or(bit, std::memory_order_relaxed);
  }

  Put put_in(size_t number, uint32_t slot, double value, double time) noexcept {
    const size_t lane = kFirstLane + number * kLaneBytes;
    const uint64_t head = word(lane + kHead).load(std::memory_order_relaxed);
    const uint64_t waiting = head - word(lane + kTail).load(std::memory_order_acquire);
    mark(kLanesInUse, uint64_t{1} << number);
    if (waiting >= kEvents) {
      word(lane + kDropped).fetch_add(1, std::memory_order_relaxed);
      return Put::dropped;
    }
    const size_t event = kFirstEvent + (number * kEvents + head % kEvents) * kEventBytes;
    word(event).store((head + 1) << 32 | slot, std::memory_order_relaxed);
    store(event + 8, value);
    store(event + 16, time);
    word(lane + kHead).store(head + 1, std::memory_order_release);
    const bool asks = (head + 1) % (kEvents / 2) == 0 && waiting + 1 >= kEvents / 2;
    return asks ? Put::half_full : Put::done;
  }

  void* base_;
  Busy busy_[kLanes];
};

}  // namespace shared

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

/// The CPU's counter of time, and the kernel's clock beside it.
struct Machine {
  static int64_t monotonic() noexcept { return nanoseconds(CLOCK_MONOTONIC); }

  static uint64_t ticks() noexcept {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t count = 0;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    return 0;
#endif
  }

  /// The counter is good when the kernel itself keeps time by it: then it never rests, and all
  /// cores agree.
  static bool trusted() noexcept {
    return keeps_time("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  }

  static bool keeps_time(const char* clocksource) noexcept {
    char name[32] = {};
    const int fd = ::open(clocksource, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const ssize_t n = ::read(fd, name, sizeof name - 1);
    ::close(fd);
    return n > 0 &&
           (std::strcmp(name, "tsc\n") == 0 || std::strcmp(name, "arch_sys_counter\n") == 0);
  }
};

/// CLOCK_MONOTONIC by the CPU's counter, which takes half the time to read. The counter's rate is
/// measured beside the clock, over 10 ms at first and ever longer up to some seconds; before that,
/// and for good once the two have parted by more than 0.1 % (a suspended machine, say), the clock
/// itself is read. Thread-safe; nobody waits. M is the machine, another one in tests.
template <class M>
class TickClock {
 public:
  constexpr TickClock() noexcept
      : each_(0), due_(0), busy_(false), first_(), last_(), measured_(kLeastBase / 2) {}

  int64_t now() noexcept {
    const uint64_t each = each_.load(std::memory_order_acquire);
    if (each != 0) {
      const uint64_t ticks = M::ticks();
      if (ticks >= first_.ticks) return first_.ns + length(ticks - first_.ticks, each);
    }
    return tend();
  }

  /// Measures and checks when that is due, which somebody has to ask for now and then; gives the
  /// clock's time.
  int64_t tend() noexcept {
    const int64_t now = M::monotonic();
    if (now >= due_.load(std::memory_order_relaxed) &&
        !busy_.exchange(true, std::memory_order_acquire)) {
      due_.store(look(), std::memory_order_relaxed);
      busy_.store(false, std::memory_order_release);
    }
    return now;
  }

 private:
  static constexpr int64_t kLeastBase = 10000000;
  static constexpr int64_t kLongestBase = 10000000000;
  static constexpr int64_t kCheckInterval = 1000000000;
  static constexpr int64_t kNever = INT64_MAX;

  struct Moment {
    int64_t ns;
    uint64_t ticks;
    uint64_t doubt;  ///< in ticks
  };
#if defined(__SIZEOF_INT128__)
  __extension__ typedef unsigned __int128 Wide;
#else
  typedef uint64_t Wide;  // no counter that we know
#endif

  /// `each` is a tick's nanoseconds times 2^32.
  static int64_t length(uint64_t ticks, uint64_t each) noexcept {
    return static_cast<int64_t>(static_cast<Wide>(ticks) * each >> 32);
  }

  /// The least disturbed of some tries.
  static Moment moment() noexcept {
    Moment best = {0, 0, UINT64_MAX};
    for (int i = 0; i < 5; ++i) {
      const uint64_t before = M::ticks();
      const int64_t ns = M::monotonic();
      const uint64_t took = M::ticks() - before;
      if (took < best.doubt) best = {ns, before + took / 2, took};
    }
    return best;
  }

  /// When to look again. One thread at a time; the first moment stays as soon as there is a rate.
  int64_t look() noexcept {
    const bool begins = last_.ns == 0;
    if (begins && !M::trusted()) return kNever;
    const Moment now = moment();
    if (begins) {
      first_ = last_ = now;
      return now.ns + kLeastBase;
    }
    if (strays(now)) {
      each_.store(0, std::memory_order_release);
      return kNever;
    }
    last_ = now;
    measure(now);
    return now.ns + (each_.load(std::memory_order_relaxed) == 0 ? kLeastBase : kCheckInterval);
  }

  bool strays(const Moment& now) const noexcept {
    if (now.ticks <= last_.ticks) return true;
    const uint64_t each = each_.load(std::memory_order_relaxed);
    if (each == 0) return false;
    const uint64_t doubt = now.doubt + last_.doubt;
    const int64_t took = now.ns - last_.ns;
    const int64_t apart = length(now.ticks - last_.ticks, each) - took;
    return (apart < 0 ? -apart : apart) > took / 1000 + length(doubt, each);
  }

  void measure(const Moment& now) noexcept {
    const int64_t base = now.ns - first_.ns;
    const uint64_t ticks = now.ticks - first_.ticks;
    if (base < 2 * measured_ || measured_ >= kLongestBase ||
        now.doubt + first_.doubt > ticks / 5000) {
      return;
    }
    measured_ = base;
    each_.store(static_cast<uint64_t>(static_cast<double>(base) / static_cast<double>(ticks) *
                                      4294967296.0),
                std::memory_order_release);
  }

  std::atomic<uint64_t> each_;  ///< 0 while the counter is not used
  std::atomic<int64_t> due_;
  std::atomic<bool> busy_;
  Moment first_;
  Moment last_;
  int64_t measured_;  ///< the nanoseconds over which the rate was measured
};

template <class T>
struct ThisMachine {
  static TickClock<Machine> clock;
};
template <class T>
TickClock<Machine> ThisMachine<T>::clock;

inline int64_t now_ns() noexcept {
  return ThisMachine<void>::clock.now();
}
/// Whether a moment lies before another that was set at most kLookInterval ahead. Should the time
/// have gone backwards it does not.
inline bool before(int64_t now, int64_t until) noexcept {
  return now < until && until - now <= kLookInterval;
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
    if (s.fd < 0 || detail::before(detail::now_ns(), s.next_look)) return;
    detail::ThisMachine<void>::clock.tend();
    const int64_t now = detail::now_ns();
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
                    detail::before(now, s->next_look.load(std::memory_order_relaxed)) &&
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
      detail::before(now, state->absent_until.load(std::memory_order_relaxed))) {
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
  const int64_t taken = now > began ? now - began : 0;  // two cores may differ by a few ticks
  detail::Metric* const m = ready(now);
  if (m == nullptr) return report(1e-9 * static_cast<double>(taken), now);
  if (m->way.load(std::memory_order_relaxed) != detail::Way::histogram) {
    return put(*m, 1e-9 * static_cast<double>(taken), now);
  }
  m->owner->memory.add(m->histogram, taken);
}

}  // namespace client
}  // namespace assay
