// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <assay/base/result.h>

namespace assay {

using Nanoseconds = std::chrono::nanoseconds;
using Milliseconds = std::chrono::milliseconds;
/// A point on the wall clock, in nanoseconds since 1970 UTC.
using Timestamp = std::chrono::time_point<std::chrono::system_clock, Nanoseconds>;

constexpr Timestamp from_unix_ns(int64_t ns) {
  return Timestamp(Nanoseconds(ns));
}
constexpr int64_t unix_ns(Timestamp t) {
  return t.time_since_epoch().count();
}
constexpr double seconds(Nanoseconds d) {
  return static_cast<double>(d.count()) / 1e9;
}
constexpr Nanoseconds from_seconds(double s) {
  return Nanoseconds(static_cast<int64_t>(s * 1e9));
}

/// Source of time, injected so that tests need not wait. Implementations are thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Never steps back: the wall time at construction plus the monotonic time since then.
  virtual Timestamp now() const = 0;
  /// What other processes take for the time at this moment: it steps when somebody sets the clock.
  virtual Timestamp wall() const = 0;
};

/// The machine's clock. A step of the system clock after construction does not show.
class SystemClock final : public Clock {
 public:
  SystemClock();
  Timestamp now() const override;
  Timestamp wall() const override;
  /// The wall clock minus the monotonic clock, fixed at construction: turns a CLOCK_MONOTONIC
  /// reading into a Timestamp and back.
  Nanoseconds offset() const { return offset_; }

 private:
  Nanoseconds offset_;
};

/// A clock that a test moves by hand.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Timestamp start) : now_(start) {}
  Timestamp now() const override { return now_; }
  Timestamp wall() const override { return now_ + stepped_; }
  void advance(Nanoseconds d) { now_ += d; }
  /// Sets the wall clock on by so much.
  void step(Nanoseconds d) { stepped_ += d; }

 private:
  Timestamp now_;
  Nanoseconds stepped_{};
};

/// "90s", "1.5m", "100ms", "2h", "250us"; a bare number is in `bare_unit`. No negative values.
Result<Nanoseconds> parse_duration(const std::string& text,
                                   Nanoseconds bare_unit = std::chrono::seconds(1));
/// "850 ms", "12.3 s", "4 min 10 s", "2 h 5 min".
std::string format_duration(Nanoseconds d);
/// UTC, as in 2026-01-31T12:00:00.123Z.
std::string format_utc(Timestamp t);
/// The same with any number of decimals, or with an offset as in +01:00; nothing when it is no such
/// time, or one before `first_year` or 1678, or after 2261. Of times from 1970 on, the distance of
/// any two fits into Nanoseconds; of earlier ones it may not.
std::optional<Timestamp> parse_utc(const std::string& text, int first_year = 1970);

}  // namespace assay
