// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <assay/base/result.h>

/// What `assay` and its keeper say to each other over a SOCK_SEQPACKET pair: fixed-size orders one
/// way, fixed-size reports the other. Only the order to start is followed by more packets, in
/// pieces.
namespace assay::launch {

enum class OrderKind : uint32_t { start = 1, stop, release };

struct Order {
  OrderKind kind = OrderKind::release;
  uint32_t value = 0;  ///< start: bytes that follow; stop: a StopStep
};

/// Where a start failed.
enum class Stage : uint32_t { none, fork, stdout_file, stderr_file, cgroup, workdir, exec };

enum class ReportKind : uint32_t { started = 1, failed, ended, released };

struct Report {
  ReportKind kind = ReportKind::started;
  int32_t pid = 0;            ///< started
  Stage stage = Stage::none;  ///< failed
  int32_t error = 0;          ///< failed: errno
  int32_t how = 0;            ///< ended, released: si_code of the main process, 0 when unknown
  int32_t status = 0;         ///< ended, released: si_status
  int32_t left = 0;           ///< released: 1 when processes could not be ended in time
  int32_t padding = 0;
  double user_seconds = 0;  ///< released, of the whole tree
  double system_seconds = 0;
  uint64_t max_rss_bytes = 0;  ///< 0: not known
};

static_assert(std::is_trivially_copyable_v<Order> && std::is_trivially_copyable_v<Report>);

/// All that the keeper needs to start the app. Paths are real and absolute.
struct StartOrder {
  std::vector<std::string> argv;
  std::vector<std::string> env;  ///< the whole environment, "NAME=value"
  std::string workdir;           ///< empty: the caller's
  std::string stdout_file;       ///< empty: /dev/null
  std::string stderr_file;
  bool unified = false;
  std::vector<std::string> cgroups;  ///< folders to join

  bool operator==(const StartOrder&) const = default;
};

std::string encode(const StartOrder& order);
std::optional<StartOrder> decode(std::string_view bytes);

/// Each fails when the other side is gone; waits while its buffer is full.
Result<void> send_order(int fd, const Order& order);
Result<void> send_start(int fd, const StartOrder& order);
Result<void> send_report(int fd, const Report& report);

enum class Wait : uint8_t { no, yes };

template <class T>
struct Received {
  std::optional<T> message;
  bool closed = false;  ///< the other side is gone
};

Received<Order> receive_order(int fd, Wait wait);
Received<Report> receive_report(int fd, Wait wait);
/// The `size` bytes that follow an order to start.
std::optional<StartOrder> receive_start(int fd, size_t size);

}  // namespace assay::launch
