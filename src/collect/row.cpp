// SPDX-License-Identifier: Apache-2.0
#include "row.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace assay::collect {
namespace {

using model::Counts;

struct Column {
  const char* name;
  std::string (*text)(const Row& row);
};

/// Short, and read back as the same number.
std::string number(double value) {
  return fmt::format("{}", value);
}
std::string number(const std::optional<double>& value) {
  return value ? number(*value) : "";
}
std::string percent(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : "";
}
std::string time_of(const Row& row, double share) {
  return row.times.empty() ? "" : fmt::format("{:.9f}", quantile(row.times, share));
}
std::string timestamp(Timestamp time) {
  return time == Timestamp() ? "" : format_utc(time);
}
template <class Member>
std::string count(const Row& row, Member Counts::*member) {
  if (!row.characteristics) return "";
  return number(static_cast<double>(row.characteristics->counts.*member));
}

constexpr std::array kColumns = {
    Column{"model", [](const Row& r) { return r.model; }},
    Column{"family", [](const Row& r) { return r.family; }},
    Column{"engine", [](const Row& r) { return r.engine; }},
    Column{"engine_version", [](const Row& r) { return r.engine_version; }},
    Column{"execution_number", [](const Row& r) { return std::to_string(r.iteration); }},
    Column{"status", [](const Row& r) { return r.status; }},
    Column{"error", [](const Row& r) { return r.error; }},
    Column{"background", [](const Row& r) { return r.background; }},
    Column{"execution_time",
           [](const Row& r) { return r.times.empty() ? "" : clock_time(quantile(r.times, 0.5)); }},
    Column{"execution_seconds", [](const Row& r) { return time_of(r, 0.5); }},
    Column{"execution_p10_seconds", [](const Row& r) { return time_of(r, 0.1); }},
    Column{"execution_p90_seconds", [](const Row& r) { return time_of(r, 0.9); }},
    Column{"inferences", [](const Row& r) { return std::to_string(r.times.size()); }},
    Column{"outlier", [](const Row& r) { return std::string(r.outlier ? "1" : "0"); }},
    Column{"precision",
           [](const Row& r) { return r.characteristics ? r.characteristics->precision : ""; }},
    Column{"threads", [](const Row& r) { return std::to_string(r.threads); }},
    Column{"start_timestamp", [](const Row& r) { return timestamp(r.start); }},
    Column{"end_timestamp", [](const Row& r) { return timestamp(r.end); }},
    Column{"device", [](const Row& r) { return r.device; }},
    Column{"device_uuid", [](const Row& r) { return r.device_uuid; }},
    Column{"device_class", [](const Row& r) { return r.device_class; }},
    Column{"device_model", [](const Row& r) { return r.device_model; }},
    Column{"device_cpu_cores", [](const Row& r) { return number(r.cores); }},
    Column{"device_load_percent", [](const Row& r) { return percent(r.load_percent); }},
    Column{"total_cpu_usage_percent", [](const Row& r) { return percent(r.cpu_percent); }},
    Column{"total_memory_usage_percent", [](const Row& r) { return percent(r.memory_percent); }},
    Column{"device_disk_usage_percent", [](const Row& r) { return percent(r.disk_percent); }},
    Column{"disk_io_read_bytes", [](const Row& r) { return number(r.disk_read_bytes); }},
    Column{"disk_io_write_bytes", [](const Row& r) { return number(r.disk_write_bytes); }},
    Column{"energy_joules", [](const Row& r) { return number(r.joules); }},
    Column{"conv_layers", [](const Row& r) { return count(r, &Counts::conv_layers); }},
    Column{"pool_layers", [](const Row& r) { return count(r, &Counts::pool_layers); }},
    Column{"fully_conn_layers", [](const Row& r) { return count(r, &Counts::fc_layers); }},
    Column{"filter_details", [](const Row& r) { return count(r, &Counts::filter_details); }},
    Column{"total_parameters", [](const Row& r) { return count(r, &Counts::total_parameters); }},
    Column{"model_input_size", [](const Row& r) { return count(r, &Counts::model_input_size); }},
    Column{"model_output_size", [](const Row& r) { return count(r, &Counts::model_output_size); }},
    Column{"pieces", [](const Row& r) { return r.pieces; }},
};

/// Line ends would make a row that was cut off hard to tell from a whole one.
std::string cell_text(const std::string& text) {
  const std::string cell = in_one_line(text);
  if (cell.find_first_of(",\"") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace

double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

std::string in_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  return text;
}

std::string clock_time(double seconds) {
  const auto micro = static_cast<int64_t>(std::llround(seconds * 1e6));
  const int64_t whole = micro / 1'000'000;
  return fmt::format("{:02}:{:02}:{:02}.{:06}", whole / 3600, whole / 60 % 60, whole % 60,
                     micro % 1'000'000);
}

std::vector<std::string> column_names() {
  std::vector<std::string> names;
  for (const auto& column : kColumns) names.emplace_back(column.name);
  for (const auto& column : model::kWorkloadColumns) names.emplace_back(column.name);
  return names;
}

std::vector<std::string> cells_of(const Row& row) {
  std::vector<std::string> cells;
  for (const auto& column : kColumns) cells.push_back(column.text(row));
  for (const auto& column : model::kWorkloadColumns)
    cells.push_back(row.characteristics ? number(row.characteristics->workload.*column.value) : "");
  return cells;
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (const auto& cell : cells) {
    if (!line.empty() || &cell != &cells.front()) line += ',';
    line += cell_text(cell);
  }
  return line + '\n';
}

}  // namespace assay::collect
