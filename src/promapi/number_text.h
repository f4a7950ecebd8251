// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace assay::promapi {

/// Room that every function here can do with; each gives the end of what it wrote.
constexpr size_t kNumberRoom = 32;

/// The shortest text that is read back as the same value; "NaN", "+Inf", "-Inf".
char* write_value(char* at, double value);
/// A bucket's bound in the one form that OpenMetrics calls canonical ("1.0", "2.5", "1e+06"), since
/// it is a label and another text would be another series.
char* write_bound(char* at, double bound);
/// Milliseconds as seconds: "1700000000.250".
char* write_seconds(char* at, int64_t milliseconds);
char* write_integer(char* at, int64_t value);

}  // namespace assay::promapi
