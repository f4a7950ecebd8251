// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <string>

#include <assay/base/time.h>

namespace assay::cli {

/// What an option says; an error names it.
inline Result<Nanoseconds> duration_of(const char* option, const std::string& text) {
  auto time = parse_duration(text);
  if (time) return time;
  return fail(time.error().kind, fmt::format("{}: {}", option, time.error().message));
}

}  // namespace assay::cli
