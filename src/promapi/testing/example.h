// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <limits>
#include <string_view>

#include <assay/promapi/exposition.h>

namespace assay::promapi::testing {

/// A label's value in which everything needs an escape.
constexpr std::string_view kAwkward = "a\"b\\c\nd é";

/// Every kind of family and value.
inline void write_families(FamilyWriter& out) {
  const LabelText app({{"name", "objcounter"}, {"id", "/docker/1f"}, {"pod", ""}});
  const LabelText awkward({{"image", kAwkward}});
  constexpr auto kTime = from_unix_ns(1'700'000'000'250'000'000);
  out.family("container_cpu_usage_seconds_total", FamilyKind::counter, "CPU time, \"all\" cores.",
             "seconds");
  out.sample(app, 12.75);
  out.sample(awkward, {"cpu", "cpu\\0"}, 3);
  out.family("container_absent_bytes", FamilyKind::gauge, "Nobody has it.");
  out.family("container_memory_working_set_bytes", FamilyKind::gauge, "Memory\nin use \\ kept.",
             "bytes");
  out.sample(app, 1073741824.0, kTime);
  out.sample(awkward, 1e300);
  out.family("node_temperature_celsius", FamilyKind::gauge, "Where it is hottest.", "celsius");
  out.sample({}, -0.1);
  out.family("node_strange_value", FamilyKind::unknown, "What a board may say.");
  out.sample({{"v", "nan"}}, std::numeric_limits<double>::quiet_NaN());
  out.sample({{"v", "high"}}, std::numeric_limits<double>::infinity());
  out.sample({{"v", "low"}}, -std::numeric_limits<double>::infinity());
  out.family("char_node_info", FamilyKind::info, "The device.");
  out.sample({{"model", "Jetson"}}, 1);
  out.family("assay_app_latency_seconds", FamilyKind::histogram, "Time of a frame.", "seconds");
  constexpr std::array<Bucket, 4> kBuckets{{{0.00001, 1}, {0.25, 3}, {1, 4}, {1000000, 5}}};
  out.histogram(app, {kBuckets, 2.5, 6});
}

/// A scrape of them, which the golden text and the readers that others wrote are shown.
inline std::string_view write_example(Exposition& out, TextFormat format) {
  out.start(format);
  write_families(out);
  return out.finish();
}

}  // namespace assay::promapi::testing
