// SPDX-License-Identifier: Apache-2.0
// What collecting left in files: a table of rows, or a device's calibration.
#include "row_file.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include <assay/collect/calibrate.h>

using namespace assay;

namespace {

void read_table(std::string_view text) {
  // A fuzzer would look for the header for long.
  const auto known =
      collect::parse_rows(collect::csv_line(collect::column_names()) + std::string(text), "table");
  if (!known) return;
  for (const auto& [setting, rows] : known->by_setting)
    static_cast<void>(collect::is_outlier(rows, {50, 0.1}));
}

/// What was read is written and read as the same.
void read_device(std::string_view text) {
  const auto document = nlohmann::json::parse(text, nullptr, false);
  const auto found = collect::read_calibration(document, "file");
  if (!found) return;
  const auto again = collect::read_calibration(collect::calibration_document(*found), "file");
  if (!again || again->device.figures != found->device.figures) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("{"))
    read_device(text);
  else
    read_table(text);
  return 0;
}
