// SPDX-License-Identifier: Apache-2.0
#include "spec_checks.h"
#include "spec_values.h"

#include <algorithm>
#include <array>
#include <chrono>

#include <assay/base/text.h>

namespace assay::session {
namespace {

constexpr std::array<std::string_view, 5> kResources = {"cpus", "memory", "pids", "gpus",
                                                        "network"};
constexpr std::array<std::string_view, 3> kLinkParts = {"rate", "delay", "loss"};
constexpr double kSlowestBits = 1e3;
constexpr double kFastestBits = 1e12;
constexpr Nanoseconds kLongestDelay = std::chrono::minutes(1);

Result<double> parse_rate(const std::string& text) {
  const auto rate = parse_bit_rate(text);
  if (!rate) {
    return bad_input(fmt::format("{} {}; write for example 500kbit or 2mbit", in_quotes(text),
                                 trim(text).ends_with("bps")
                                     ? "means bytes to some tools and bits to others"
                                     : "is not a bit rate"));
  }
  if (*rate >= kSlowestBits && *rate <= kFastestBits) return *rate;
  return bad_input(fmt::format("{} is out of range; choose 1kbit to 1tbit", in_quotes(text)));
}

std::optional<Nanoseconds> read_delay(const Field& field, Problems& problems) {
  const auto delay = read_duration(field, problems);
  if (!delay || *delay <= kLongestDelay) return delay;
  problems.add(field.line,
               fmt::format("delay: {} is too long; the most is 60s", format_duration(*delay)));
  return std::nullopt;
}

Link read_network(const Field& field, Problems& problems) {
  Link link;
  if (!field.value.IsMap()) {
    wrong_type(field, "a map", "{rate: 2mbit, delay: 80ms, loss: 1%}", problems);
    return link;
  }
  for (const auto& part : fields_of(field.value, problems)) {
    if (part.key == "delay") {
      link.delay = read_delay(part, problems);
    } else if (part.key == "rate") {
      const auto text = read_scalar(part, "a bit rate", "2mbit", problems);
      if (text) link.rate_bits_per_second = keep(parse_rate(*text), part, problems);
    } else if (part.key == "loss") {
      const auto text = read_scalar(part, "a share", "1%", problems);
      if (text) link.loss_ratio = keep(parse_loss(*text), part, problems);
    } else {
      unknown_key(part, kLinkParts, problems);
    }
  }
  return link;
}

void read_number(const Field& field, Limits& limits, Problems& problems) {
  const auto* const example = field.key == "memory" ? "512MB" : "2";
  const auto text = read_scalar(field, "a number", example, problems);
  if (!text) return;
  if (field.key == "cpus") limits.cpus = keep(parse_cpus(*text), field, problems);
  if (field.key == "memory") limits.memory_bytes = keep(parse_memory(*text), field, problems);
  if (field.key == "pids") limits.pids = keep(parse_pids(*text), field, problems);
  if (field.key == "gpus") limits.gpus = keep(parse_gpus(*text), field, problems).value_or("");
}

}  // namespace

Limits read_resources(const Field& field, Problems& problems) {
  Limits limits;
  if (!field.value.IsMap()) {
    wrong_type(field, "a map", "{cpus: 2, memory: 512MB}", problems);
    return limits;
  }
  for (const auto& entry : fields_of(field.value, problems)) {
    if (std::find(kResources.begin(), kResources.end(), entry.key) == kResources.end()) {
      unknown_key(entry, kResources, problems);
    } else if (entry.key == "network") {
      limits.network = read_network(entry, problems);
    } else {
      read_number(entry, limits, problems);
    }
  }
  return limits;
}

}  // namespace assay::session
