// SPDX-License-Identifier: Apache-2.0
// A mapping file and the tables that it maps, divided by lines with nothing but "%%". Whatever they
// say, a table that comes of it has numbers that can be learned from.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <assay/predict/table.h>

namespace {

using namespace assay::predict;

void check(bool holds) {
  if (!holds) std::abort();
}

std::array<std::string, 3> parts_of(std::string_view text) {
  constexpr std::string_view kDivide = "\n%%\n";
  std::array<std::string, 3> parts;
  for (auto& part : parts) {
    const size_t end = text.find(kDivide);
    part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + kDivide.size());
  }
  return parts;
}

void check_size(const Grid& grid, size_t rows) {
  check(grid.rows == rows && grid.values.size() == rows * grid.columns);
}

void check_table(const Table& table) {
  check(table.devices.size() == table.tasks.size());
  check_size(table.features, table.items.size());
  check_size(table.costs, table.items.size());
  check_size(table.seconds, table.tasks.size());
  check(table.seconds.columns == table.items.size());
  for (const double feature : table.features.values) check(std::isfinite(feature));
  for (const double cost : table.costs.values) check(std::isfinite(cost) && cost >= 0);
  for (const double time : table.seconds.values)
    check(std::isnan(time) || (std::isfinite(time) && time > 0));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto parts = parts_of({reinterpret_cast<const char*>(data), size});
  const auto mapping = read_mapping("map.yaml", parts[0]);
  if (!mapping) {
    check(!mapping.error().message.empty());
    return 0;
  }
  const auto table = make_table({"table.csv", parts[1]}, {"joined.csv", parts[2]}, *mapping);
  if (table) check_table(*table);
  return 0;
}
