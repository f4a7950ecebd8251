// SPDX-License-Identifier: Apache-2.0
#include "text/process.h"

#include "text/fields.h"

#include <assay/base/text.h>

namespace assay::probes {
namespace {

/// Reads numbers from a line and remembers whether one was missing.
class NumberReader {
 public:
  explicit NumberReader(std::string_view line) : line_(line) {}

  uint64_t take() {
    const auto number = next_uint(line_);
    ok_ = ok_ && number.has_value();
    return number.value_or(0);
  }
  void skip(int count) { skip_words(line_, count); }
  bool ok() const { return ok_; }

 private:
  std::string_view line_;
  bool ok_ = true;
};

std::optional<int64_t> positive(std::optional<uint64_t> number) {
  if (!number || *number > INT32_MAX) return std::nullopt;
  return static_cast<int64_t>(*number);
}

std::optional<uint64_t> kilobytes(std::optional<uint64_t> number) {
  if (!number || *number > UINT64_MAX / 1024) return std::nullopt;
  return *number * 1024;
}

/// The fields behind the name, from "state" on.
bool read_numbers(std::string_view rest, ProcessStat& stat) {
  const std::string_view state = next_word(rest);
  const auto parent = positive(next_uint(rest));
  if (state.size() != 1 || !parent) return false;
  stat.state = state[0];
  stat.parent = *parent;
  skip_words(rest, 5);
  NumberReader numbers(rest);
  stat.minor_faults = numbers.take();
  stat.child_minor_faults = numbers.take();
  stat.major_faults = numbers.take();
  stat.child_major_faults = numbers.take();
  stat.user_ticks = numbers.take();
  stat.system_ticks = numbers.take();
  stat.child_user_ticks = numbers.take();
  stat.child_system_ticks = numbers.take();
  numbers.skip(2);
  stat.threads = numbers.take();
  numbers.skip(1);
  stat.start_ticks = numbers.take();
  numbers.skip(1);
  stat.rss_pages = numbers.take();
  return numbers.ok();
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const size_t open = text.find(" (");
  const size_t close = text.rfind(')');
  if (open == text.npos || close == text.npos || close < open + 2) return std::nullopt;
  ProcessStat stat;
  const auto pid = positive(parse_uint(text.substr(0, open)));
  if (!pid) return std::nullopt;
  stat.pid = *pid;
  stat.name = text.substr(open + 2, close - open - 2);
  if (!read_numbers(trim(text.substr(close + 1)), stat)) return std::nullopt;
  return stat;
}

std::optional<ProcessStatus> parse_process_status(std::string_view text) {
  const auto pid = positive(keyed_uint(text, "Pid"));
  const auto group = positive(keyed_uint(text, "Tgid"));
  const auto parent = positive(keyed_uint(text, "PPid"));
  const auto state = keyed_text(text, "State");
  const auto threads = keyed_uint(text, "Threads");
  if (!pid || !group || !parent || !state || state->empty() || !threads) return std::nullopt;
  ProcessStatus status;
  status.pid = *pid;
  status.group = *group;
  status.parent = *parent;
  status.state = state->front();
  status.threads = *threads;
  status.rss_bytes = kilobytes(keyed_uint(text, "VmRSS"));
  status.peak_rss_bytes = kilobytes(keyed_uint(text, "VmHWM"));
  status.swap_bytes = kilobytes(keyed_uint(text, "VmSwap"));
  status.voluntary_switches = keyed_uint(text, "voluntary_ctxt_switches");
  status.forced_switches = keyed_uint(text, "nonvoluntary_ctxt_switches");
  return status;
}

std::optional<uint64_t> parse_waiting_ns(std::string_view text) {
  next_field(text, ' ');
  return parse_uint(next_field(text, ' '));
}

std::optional<ProcessIo> parse_process_io(std::string_view text) {
  const auto read = keyed_uint(text, "read_bytes");
  const auto written = keyed_uint(text, "write_bytes");
  if (!read || !written) return std::nullopt;
  return ProcessIo{*read, *written};
}

}  // namespace assay::probes
