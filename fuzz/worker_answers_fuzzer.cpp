// SPDX-License-Identifier: Apache-2.0
// What workers answer when they are measured, and what API servers say of their pods. What is taken
// is within its bounds, what is not has a message.
#include "pod_state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <assay/placement/deploy.h>

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto times = assay::placement::parse_worker_times(text)) {
    require(!times->seconds.empty());
    require(std::all_of(times->seconds.begin(), times->seconds.end(),
                        [](double seconds) { return seconds > 0; }));
  } else {
    require(!times.error().message.empty());
  }
  const auto state = assay::kubeapi::read_pod_state(text);
  require(state ? !state->uid.empty() : !state.error().message.empty());
  return 0;
}
