// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>

#include <assay/base/csv.h>

namespace assay {

CsvRows::CsvRows(std::string_view text, char separator, size_t above)
    : rest_(text), separator_(separator), next_line_(above + 1) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

std::string CsvRows::plain() {
  const char ends[] = {separator_, '\r', '\n'};
  const size_t end =
      std::min(rest_.find_first_of(std::string_view(ends, std::size(ends))), rest_.size());
  std::string cell(rest_.substr(0, end));
  rest_.remove_prefix(end);
  return cell;
}

Result<std::string> CsvRows::quoted() {
  std::string cell;
  rest_.remove_prefix(1);
  while (true) {
    const size_t quote = rest_.find('"');
    if (quote == rest_.npos) return bad_input(fmt::format("line {}: a quote is not closed", line_));
    cell += rest_.substr(0, quote);
    rest_.remove_prefix(quote + 1);
    if (!rest_.starts_with('"')) break;
    cell += '"';
    rest_.remove_prefix(1);
  }
  next_line_ += static_cast<size_t>(std::count(cell.begin(), cell.end(), '\n'));
  // What follows a quoted cell belongs to it, as most programs read it.
  return cell + plain();
}

Result<bool> CsvRows::next(std::vector<std::string>& cells) {
  cells.clear();
  while (rest_.starts_with('\n') || rest_.starts_with('\r')) {
    if (rest_.front() == '\n') ++next_line_;
    rest_.remove_prefix(1);
  }
  if (rest_.empty()) return false;
  line_ = next_line_;
  while (true) {
    if (cells.size() == kMostCells)
      return bad_input(fmt::format("line {}: there are more than {} cells", line_, kMostCells));
    if (rest_.starts_with('"')) {
      ASSAY_TRY(std::string cell, quoted());
      cells.push_back(std::move(cell));
    } else {
      cells.push_back(plain());
    }
    if (!rest_.starts_with(separator_)) return true;
    rest_.remove_prefix(1);
  }
}

}  // namespace assay
