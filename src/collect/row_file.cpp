// SPDX-License-Identifier: Apache-2.0
#include "row_file.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <assay/base/csv.h>
#include <assay/base/text.h>

namespace assay::collect {
namespace {

constexpr size_t kMostBytes = 1U << 30U;
constexpr uint64_t kMostIterations = 1'000'000;
constexpr uint64_t kMostThreads = 1'000'000;
constexpr double kSimilarLoad = 10;
constexpr size_t kFewest = 3;
constexpr double kFar = 1.5;

/// "; the first that differs is x".
std::string difference(const std::vector<std::string>& there,
                       const std::vector<std::string>& ours) {
  for (size_t i = 0; i < std::max(there.size(), ours.size()); ++i) {
    if (i >= there.size()) return fmt::format("it lacks '{}'", ours[i]);
    if (i >= ours.size() || there[i] != ours[i])
      return fmt::format("its column {} is '{}'", i + 1, there[i]);
  }
  return "";
}

/// The cells of one row by name; the columns are known to be ours.
class NamedCells {
 public:
  explicit NamedCells(const std::vector<std::string>& names) {
    for (size_t i = 0; i < names.size(); ++i) places_[names[i]] = i;
  }
  std::vector<std::string>& cells() { return cells_; }
  bool whole() const { return cells_.size() == places_.size(); }
  const std::string& text(const char* name) const { return cells_[places_.at(name)]; }
  double number(const char* name) const { return parse_double(text(name)).value_or(0); }

 private:
  std::map<std::string, size_t> places_;
  std::vector<std::string> cells_;
};

/// False for what is no row of ours.
bool add_row(const NamedCells& row, KnownRows& known) {
  if (!row.whole()) return false;
  const auto iteration = parse_uint(row.text("execution_number"));
  const auto threads = parse_uint(row.text("threads"));
  if (!iteration || *iteration > kMostIterations || !threads || *threads > kMostThreads)
    return false;
  Known& of_setting =
      known.by_setting[{row.text("model"), row.text("engine"), row.text("device"),
                        row.number("device_cpu_cores"), static_cast<int>(*threads)}];
  if (row.text("status") == "ok")
    of_setting.iterations[{static_cast<int>(*iteration), row.text("background")}] = {
        row.number("device_load_percent"), row.number("execution_seconds")};
  else if (row.text("total_parameters").empty())
    of_setting.unreadable = true;
  else
    of_setting.refused = true;
  if (!row.text("total_parameters").empty()) of_setting.parameters = row.number("total_parameters");
  of_setting.profiles += row.text("pieces").empty() ? 0 : 1;
  ++known.rows;
  return true;
}

}  // namespace

Result<KnownRows> parse_rows(std::string_view text, const std::string& file) {
  CsvRows table(text);
  const std::vector<std::string> names = column_names();
  NamedCells row(names);
  ASSAY_TRY(const bool any, table.next(row.cells()));
  if (!any || row.cells() != names)
    return bad_input(fmt::format(
        "{} has other columns than assay collect writes: {}; choose another file with -o", file,
        difference(row.cells(), names)));
  KnownRows known;
  while (true) {
    const auto more = table.next(row.cells());
    if (!more) return bad_input(fmt::format("{}:{}: {}", file, table.line(), more.error().message));
    if (!*more) return known;
    if (!add_row(row, known))
      return bad_input(fmt::format("{}:{}: this is no row of assay collect", file, table.line()));
  }
}

Result<RowFile> RowFile::open(const std::filesystem::path& file) {
  Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (!fd.valid()) return refused_errno("cannot write " + file.native(), errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
    return refused(fmt::format("another process collects into {}", file.native()));
  RowFile rows(file, std::move(fd));
  ASSAY_TRY(std::string text, read_file(file, kMostBytes));
  const size_t whole = text.rfind('\n') == text.npos ? 0 : text.rfind('\n') + 1;
  const bool header_whole = text.find('\n') != text.npos;
  if (!text.empty() && !header_whole && !csv_line(column_names()).starts_with(text))
    return bad_input(fmt::format("{} is no table of assay collect", file.native()));
  const bool cut_off = whole != text.size();
  text.resize(whole);
  if (!text.empty()) {
    ASSAY_TRY(rows.known_, parse_rows(text, file.native()));
  }
  if (cut_off && ::ftruncate(rows.file_.get(), static_cast<off_t>(whole)) != 0)
    return refused_errno("cannot write " + file.native(), errno);
  if (text.empty()) ASSAY_CHECK(rows.append(csv_line(column_names())));
  return rows;
}

const Known& RowFile::known(const Setting& setting) const {
  static const Known kNothing;
  const auto found = known_.by_setting.find(setting);
  return found == known_.by_setting.end() ? kNothing : found->second;
}

Result<void> RowFile::append(const std::string& line) {
  struct stat before {};
  if (::fstat(file_.get(), &before) != 0)
    return refused_errno("cannot write " + path_.native(), errno);
  auto written = write_all(file_.get(), line);
  if (written) return {};
  // What was begun would look like a row that was cut off.
  const bool undone = ::ftruncate(file_.get(), before.st_size) == 0;
  return refused(fmt::format("cannot write {}: {}; {}", path_.native(), written.error().message,
                             undone ? "all rows before are whole" : "its last row is cut off"));
}

Result<void> RowFile::add(const Row& row) {
  ASSAY_CHECK(append(csv_line(cells_of(row))));
  Known& known = known_.by_setting[Setting::of(row)];
  if (row.status == "ok")
    known.iterations[{row.iteration, row.background}] = {row.load_percent.value_or(0),
                                                         quantile(row.times, 0.5)};
  else if (!row.characteristics)
    known.unreadable = true;
  else
    known.refused = true;
  if (row.characteristics) known.parameters = row.characteristics->counts.total_parameters;
  known.profiles += row.pieces.empty() ? 0 : 1;
  ++known_.rows;
  return {};
}

bool is_outlier(const Known& known, const Known::Measured& measured) {
  std::vector<double> similar;
  for (const auto& [iteration, other] : known.iterations) {
    if (std::abs(other.load_percent - measured.load_percent) <= kSimilarLoad)
      similar.push_back(other.seconds);
  }
  if (similar.size() < kFewest) return false;
  std::sort(similar.begin(), similar.end());
  const double usual = quantile(similar, 0.5);
  return measured.seconds > kFar * usual || measured.seconds * kFar < usual;
}

}  // namespace assay::collect
