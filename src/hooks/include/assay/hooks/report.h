// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <assay/base/time.h>
#include <assay/hooks/histogram.h>

namespace assay::hooks {

/// Who speaks on a connection, by the kernel's word. A process with several connections is several
/// callers.
struct Caller {
  pid_t pid = 0;             ///< 0: of a pid namespace that we cannot see
  std::string source = {};   ///< "reported by pid 12 (objcounter)"
  uint64_t start_ticks = 0;  ///< tells the process from a later one of that pid; 0: not known
  uid_t uid = 0;
  std::string command = {};  ///< /proc/PID/comm; empty: not known
};

enum class ReportKind : uint8_t { number, rate, counter, timer };

/// What a caller reports under one name. Times and sizes are in seconds and bytes, whatever the
/// caller's own unit is.
struct ReportInfo {
  std::string name;  ///< as the app wrote it: plain UTF-8 of at most 128 bytes, no catalogue name
  std::string unit;  ///< "seconds", "per second", "bytes", any other that was told; empty: none
  ReportKind kind = ReportKind::number;
};

/// Given by the sink.
enum class CallerId : uint32_t {};
enum class ReportId : uint32_t {};

/// Takes what many callers report, each under its own names: two apps that use one name stay apart.
/// Called from the thread that polls the server; must outlive the server, which says that all
/// callers are gone at its end. Names are declared once; nothing is allocated per value.
class ReportSink {
 public:
  virtual ~ReportSink() = default;
  virtual CallerId caller_connected(const Caller& caller) = 0;
  /// What the app calls itself. Comes after the connection, from clients that tell it.
  virtual void caller_named(CallerId caller, std::string_view app) = 0;
  /// All that it had reported has been given before.
  virtual void caller_gone(CallerId caller) = 0;
  virtual ReportId declare(CallerId caller, const ReportInfo& info) = 0;
  /// A number, a rate that is averaged already, or a counter's total. Times do not decrease within
  /// one report.
  virtual void value(CallerId caller, ReportId report, Timestamp time, double value) = 0;
  /// What a timer measured since the last call, given once a visit (see Limits::visit_interval).
  /// `added` lives until the call returns: merge it into what you keep.
  virtual void durations(CallerId caller, ReportId report, Timestamp time,
                         const Histogram& added) = 0;
  /// What was not taken, and why; without a caller when it could not even connect.
  virtual void lost(std::optional<CallerId> caller, std::string_view reason, uint64_t count) = 0;
};

}  // namespace assay::hooks
