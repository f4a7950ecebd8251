// SPDX-License-Identifier: Apache-2.0
// Bodies of the calls that change something. The first byte chooses the call. What is taken is
// within its bounds, what is not has a message.
#include "calls.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace {

constexpr size_t kLongestMessage = 1000;

template <class Call, class Check>
void look_at(const assay::Result<Call>& call, Check check) {
  if (!call) {
    const auto& message = call.error().message;
    if (message.empty() || message.size() > kLongestMessage) __builtin_trap();
  } else if (call->app.empty() || !check(*call)) {
    __builtin_trap();
  }
}

void parse(unsigned which, const std::string& body) {
  using namespace assay::agent;
  if (which == 0)
    look_at(parse_goals_call(body), [](const auto& call) { return call.goals.size() <= 100; });
  if (which == 1) {
    look_at(parse_limits_call(body), [](const auto& call) {
      const double cores = call.change.cores.value_or(1);
      return std::isfinite(cores) && cores > 0 && call.change.memory_bytes.value_or(1) > 0;
    });
  }
  if (which == 2) {
    look_at(parse_interval_call(body), [](const auto& call) {
      return call.interval >= kShortestInterval && call.interval <= kLongestInterval;
    });
  }
  if (which == 3) {
    look_at(parse_capture_call(body), [](const auto& call) {
      return call.request.length <= std::chrono::minutes(5) && call.request.frequency_hz > 0;
    });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0) parse(data[0] % 4U, std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
