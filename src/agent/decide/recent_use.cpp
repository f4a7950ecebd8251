// SPDX-License-Identifier: Apache-2.0
#include "decide/recent_use.h"

#include <algorithm>

namespace assay::agent {

void RecentUse::add(Timestamp time, const probes::GroupUse& use) {
  // Readings that come faster than one a second would make these seconds short.
  constexpr auto kNearlyASecond = std::chrono::milliseconds(900);
  if (filled_ > 0 && time - newest().time < kNearlyASecond) return;
  Reading& reading = ring_[next_];
  reading.time = time;
  for (size_t i = 0; i < kUsed.size(); ++i) reading.values[i] = use[kUsed[i]];
  next_ = (next_ + 1) % kReadings;
  filled_ = std::min(filled_ + 1, kReadings);
}

double RecentUse::elapsed() const {
  return filled_ < 2 ? 0 : seconds(newest().time - oldest().time);
}

double RecentUse::risen(probes::Use use) const {
  const auto place =
      static_cast<size_t>(std::find(kUsed.begin(), kUsed.end(), use) - kUsed.begin());
  if (filled_ < 2 || place == kUsed.size()) return probes::kNotMeasured;
  const double risen = newest().values[place] - oldest().values[place];
  return risen < 0 ? 0 : risen;  // what is not measured stays so
}

}  // namespace assay::agent
