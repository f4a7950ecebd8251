// SPDX-License-Identifier: Apache-2.0
#include "testing/recorded_jobs.h"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <numeric>

#include <assay/base/csv.h>
#include <assay/base/files.h>
#include <assay/base/text.h>

namespace assay::analysis::testing {
namespace {

using Values = std::vector<double>;
using Table = std::map<std::string, std::vector<std::string>>;

const std::map<std::string, Values JobSeries::*> kColumns = {
    {"cpu_cores", &JobSeries::cpu_cores},
    {"memory_bytes", &JobSeries::memory_bytes},
    {"disk_read_bytes_per_second", &JobSeries::disk_read_bytes_per_second},
    {"disk_write_bytes_per_second", &JobSeries::disk_write_bytes_per_second},
    {"network_receive_bytes_per_second", &JobSeries::network_receive_bytes_per_second},
    {"network_transmit_bytes_per_second", &JobSeries::network_transmit_bytes_per_second},
    {"gpu_utilization_ratio", &JobSeries::gpu_utilization_ratio},
    {"gpu_memory_bytes", &JobSeries::gpu_memory_bytes}};

Result<Table> read_table(const std::string& path) {
  ASSAY_TRY(const auto text, read_file(path));
  CsvRows rows(text);
  Table table;
  std::vector<std::string> names;
  std::vector<std::string> cells;
  while (rows.next(cells).value_or(false)) {
    if (names.empty()) {
      names = cells;
      continue;
    }
    for (size_t i = 0; i < names.size() && i < cells.size(); ++i)
      table[names[i]].push_back(cells[i]);
  }
  return table;
}

Result<JobSeries> read_series(const std::string& path) {
  ASSAY_TRY(const auto table, read_table(path));
  JobSeries job;
  const auto times = table.find("time");
  if (times != table.end() && times->second.size() > 1)
    job.step_seconds = std::round((parse_double(times->second.back()).value_or(0) -
                                   parse_double(times->second.front()).value_or(0)) /
                                  static_cast<double>(times->second.size() - 1));
  for (const auto& [name, series] : kColumns) {
    const auto column = table.find(name);
    if (column == table.end()) continue;
    for (const std::string& cell : column->second)
      (job.*series)
          .push_back(parse_double(cell).value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  return job;
}

Values averaged(const Values& values, size_t factor) {
  Values result;
  for (size_t begin = 0; begin + factor <= values.size(); begin += factor) {
    double sum = 0;
    for (size_t i = begin; i < begin + factor; ++i) sum += values[i];
    result.push_back(sum / static_cast<double>(factor));
  }
  return result;
}

}  // namespace

Result<std::vector<RecordedJob>> recorded_jobs(const std::string& folder) {
  ASSAY_TRY(const auto list, read_table(folder + "/jobs.csv"));
  std::vector<RecordedJob> jobs;
  for (size_t i = 0; i < list.at("file").size(); ++i) {
    const std::string& file = list.at("file")[i];
    ASSAY_TRY(auto series, read_series(fmt::format("{}/{}", folder, file)));
    jobs.push_back({file, list.at("kind")[i], list.at("program")[i], std::move(series)});
  }
  return jobs;
}

JobSeries slower(const JobSeries& job, size_t factor) {
  JobSeries result = job;
  result.step_seconds *= static_cast<double>(factor);
  for (const auto& [name, series] : kColumns) result.*series = averaged(job.*series, factor);
  return result;
}

JobSeries in_rounds(const JobSeries& job, double every, double window) {
  const auto samples = [&](double time) {
    return static_cast<size_t>(std::lround(time / job.step_seconds));
  };
  JobSeries result = job;
  result.step_seconds = every;
  result.window_seconds = window;
  for (const auto& [name, series] : kColumns) {
    const Values& values = job.*series;
    const bool is_rate = name == "cpu_cores" || name.ends_with("_per_second");
    const size_t over = is_rate ? samples(window) : 1;
    (result.*series).clear();
    for (size_t end = samples(window); end <= values.size(); end += samples(every))
      (result.*series)
          .push_back(std::accumulate(values.begin() + static_cast<ptrdiff_t>(end - over),
                                     values.begin() + static_cast<ptrdiff_t>(end), 0.0) /
                     static_cast<double>(over));
  }
  return result;
}

JobSeries first_half(const JobSeries& job) {
  JobSeries result = job;
  for (const auto& [name, series] : kColumns) (result.*series).resize((job.*series).size() / 2);
  return result;
}

}  // namespace assay::analysis::testing
