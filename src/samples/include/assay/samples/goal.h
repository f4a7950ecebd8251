// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <assay/base/result.h>
#include <assay/samples/records.h>

namespace assay {

/// "fps >= 10", "latency.p95 <= 200ms", "memory_bytes.peak < 1GB".
Result<Goal> parse_goal(const std::string& text);

}  // namespace assay
