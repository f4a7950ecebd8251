// SPDX-License-Identifier: Apache-2.0
#include "row.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/collect/placed.h>
#include <assay/predict/runs.h>

namespace assay::collect {
namespace {

constexpr size_t kMostBytes = 1U << 30U;

std::string header() {
  auto names = column_names();
  names.emplace_back("predicted_seconds");
  return csv_line(names);
}

Row row_of(const Placed& placed, int number) {
  Row row;
  row.model = placed.model;
  row.family = predict::family_of(placed.model);
  row.engine = placed.engine;
  row.engine_version = placed.engine_version;
  row.status = "ok";
  row.characteristics = placed.characteristics;
  row.iteration = number;
  row.background = "placed";
  row.threads = placed.threads;
  row.start = placed.start;
  row.end = placed.end;
  row.times = placed.seconds;
  row.cores = placed.device.cores;
  row.load_percent = placed.load * 100;
  row.device = placed.device.name;
  row.device_uuid = placed.device.uuid;
  row.device_class = placed.device.kind;
  row.device_model = placed.device.model;
  return row;
}

Failure cannot_write(const std::filesystem::path& table) {
  return refused_errno("cannot write " + table.native(), errno);
}

/// What the table has; a last row that was cut off is taken away.
Result<std::string> whole_rows(int fd, const std::filesystem::path& table) {
  ASSAY_TRY(std::string text, read_file(table, kMostBytes));
  const size_t end = text.rfind('\n') == text.npos ? 0 : text.rfind('\n') + 1;
  const bool ours = text.starts_with(header()) || (end == 0 && header().starts_with(text));
  if (!ours)
    return bad_input(
        fmt::format("{} has other columns than placed models; move it away", table.native()));
  if (end != text.size() && ::ftruncate(fd, static_cast<off_t>(end)) != 0)
    return cannot_write(table);
  text.resize(end);
  return text;
}

}  // namespace

Result<void> add_placed(const std::filesystem::path& table, const Placed& placed) {
  // Where this fails, so does what follows, and says why.
  std::error_code ignored;
  std::filesystem::create_directories(table.parent_path(), ignored);
  const Fd fd(::open(table.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!fd.valid() || ::flock(fd.get(), LOCK_EX) != 0) return cannot_write(table);
  ASSAY_TRY(const std::string before, whole_rows(fd.get(), table));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  auto cells = cells_of(row_of(placed, static_cast<int>(std::max<ptrdiff_t>(0, lines - 1))));
  cells.push_back(fmt::format("{:.9f}", placed.predicted_seconds));
  const auto written = write_all(fd.get(), (before.empty() ? header() : "") + csv_line(cells));
  if (written) return {};
  if (::ftruncate(fd.get(), static_cast<off_t>(before.size())) != 0) return cannot_write(table);
  return refused(fmt::format("cannot write {}: {}", table.native(), written.error().message));
}

}  // namespace assay::collect
