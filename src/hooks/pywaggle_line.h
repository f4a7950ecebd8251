// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "losses.h"
#include "message_parser.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <assay/base/time.h>

namespace assay::hooks {

/// A time as pywaggle writes it, "2022-08-23T13:27:10.562104000": the plugin's local time without a
/// zone. The part between the seconds and the last three digits is missing when it is zero.
std::optional<Timestamp> parse_pywaggle_time(std::string_view text);

/// Finds out the zone of the plugin's clock: a message is seen soon after it was written, so that
/// what is between its time and ours is the zone, which is a multiple of a quarter of an hour.
class PlainZone {
 public:
  /// The plugin's time as one of the wall clock; as it is where it fits no zone.
  Timestamp to_wall(Timestamp local, Timestamp wall_now);

 private:
  Nanoseconds zone_{0};
};

/// One published message.
struct Published {
  std::string name;
  double value = 0;
  bool text = false;  ///< the value is no number
  bool timer = false;
  std::optional<Timestamp> local;
};

/// Nothing for what is no message; why is counted then.
std::optional<Published> parse_pywaggle_line(std::string_view line, Losses& losses);

/// Puts lines together from pieces, in bounded memory: a longer one is left out and counted.
class LineCutter {
 public:
  explicit LineCutter(size_t line_bytes) : line_bytes_(line_bytes) {}
  void feed(std::string_view bytes, Losses& losses,
            const std::function<void(std::string_view line)>& take);
  /// What was begun and is not complete is lost.
  void cut_off(Losses& losses);

 private:
  size_t line_bytes_;
  std::string begun_;
  bool too_long_ = false;
};

}  // namespace assay::hooks
