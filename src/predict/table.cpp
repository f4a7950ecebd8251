// SPDX-License-Identifier: Apache-2.0
#include "cells.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <map>
#include <tuple>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/predict/table.h>

namespace assay::predict {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

bool is_named(const std::string& device, std::string_view name) {
  if (!name.empty() && name.back() == '*')
    return device.starts_with(name.substr(0, name.size() - 1));
  return device == name;
}

class Maker {
 public:
  Maker(const Cells& cells, const Cells* joined, const Mapping& mapping)
      : cells_(cells), joined_(joined), mapping_(mapping) {}

  Result<Table> make() {
    ASSAY_CHECK(check_columns());
    if (joined_ != nullptr)
      for (size_t row = 0; row < joined_->count(); ++row)
        joined_rows_.emplace(joined_->text(row, mapping_.join_on), row);
    for (size_t row = 0; row < cells_.count(); ++row)
      if (is_wanted(row)) ASSAY_CHECK(take(row));
    return assemble();
  }

 private:
  using Numbers = std::vector<double>;
  using ItemKey = std::tuple<std::string, std::string, Numbers, Numbers>;

  Result<void> check_column(const std::string& column) const {
    if (cells_.has(column) || (joined_ != nullptr && joined_->has(column))) return {};
    return bad_input(fmt::format("{}: has no column \"{}\"", cells_.name(), column));
  }
  Result<void> check_columns() const {
    std::vector<std::string> own = {mapping_.time_column, mapping_.model};
    own.insert(own.end(), mapping_.task.begin(), mapping_.task.end());
    own.insert(own.end(), mapping_.device.begin(), mapping_.device.end());
    if (!mapping_.kind.empty()) own.push_back(mapping_.kind);
    for (const auto& [column, value] : mapping_.only) own.push_back(column);
    if (joined_ != nullptr) own.push_back(mapping_.join_on);
    for (const auto& column : own)
      if (!cells_.has(column))
        return bad_input(fmt::format("{}: has no column \"{}\"", cells_.name(), column));
    if (joined_ != nullptr && !joined_->has(mapping_.join_on))
      return bad_input(fmt::format("{}: has no column \"{}\"", joined_->name(), mapping_.join_on));
    for (const auto* formulas : {&mapping_.features, &mapping_.costs})
      for (const auto& formula : *formulas)
        for (const auto* sum : {&formula.sum, &formula.whole})
          for (const auto& term : *sum) ASSAY_CHECK(check_column(term.column));
    return {};
  }

  bool is_wanted(size_t row) const {
    return std::all_of(mapping_.only.begin(), mapping_.only.end(),
                       [&](const auto& one) { return cells_.text(row, one.first) == one.second; });
  }

  /// Where a row's column stands: in the table itself, else in what is joined.
  Result<double> number(size_t row, const std::string& column) const {
    const Cells* from = &cells_;
    size_t at = row;
    if (!cells_.has(column)) {
      const auto& key = cells_.text(row, mapping_.join_on);
      const auto found = joined_rows_.find(key);
      if (found == joined_rows_.end())
        return cells_.wrong(row, fmt::format("{} has no \"{}\"", joined_->name(), key));
      from = joined_;
      at = found->second;
    }
    const auto& text = from->text(at, column);
    const auto value = parse_double(text);
    if (!value || !std::isfinite(*value))
      return from->wrong(at, fmt::format("{}: \"{}\" is no number", column, text));
    return *value;
  }
  Result<double> total(size_t row, const Sum& sum) const {
    double all = 0;
    for (const auto& term : sum) {
      ASSAY_TRY(const double value, number(row, term.column));
      all += term.sign * value;
    }
    return all;
  }
  Result<double> evaluate(size_t row, const Feature& feature) const {
    ASSAY_TRY(const double value, total(row, feature.sum));
    if (feature.transform == Transform::as_is) return value;
    const auto wrong = [&](double of) {
      return cells_.wrong(row, fmt::format("{} of {} is no number", feature.text, of));
    };
    if (feature.transform == Transform::log)
      return value > 0 ? Result<double>(std::log(value)) : wrong(value);
    if (feature.transform == Transform::log1p)
      return value >= 0 ? Result<double>(std::log1p(value / feature.scale)) : wrong(value);
    ASSAY_TRY(const double whole, total(row, feature.whole));
    if (!(whole > 0) || value < 0) return wrong(whole > 0 ? value : whole);
    return feature.transform == Transform::share ? value / whole : std::sqrt(value / whole);
  }

  std::string joined_text(size_t row, const std::vector<std::string>& columns) const {
    std::vector<std::string> parts;
    for (const auto& column : columns) parts.push_back(cells_.text(row, column));
    return fmt::format("{}", fmt::join(parts, "|"));
  }
  std::string device_of(size_t row) const {
    auto device = joined_text(row, mapping_.device.empty() ? mapping_.task : mapping_.device);
    for (const auto& names : mapping_.namesakes)
      for (const auto& name : names)
        if (is_named(device, name)) return names.front();
    return device;
  }

  Result<void> take(size_t row) {
    const auto& text = cells_.text(row, mapping_.time_column);
    const auto seconds = parse_time(text, mapping_.unit);
    if (!seconds || !std::isfinite(*seconds) || !(*seconds > 0))
      return cells_.wrong(
          row, fmt::format("{}: \"{}\" is no time above zero", mapping_.time_column, text));
    Numbers features;
    Numbers costs;
    for (const auto& feature : mapping_.features) {
      ASSAY_TRY(const double value, evaluate(row, feature));
      features.push_back(value);
    }
    for (const auto& cost : mapping_.costs) {
      ASSAY_TRY(const double value, evaluate(row, cost));
      costs.push_back(std::max(0.0, value));
    }
    const auto kind = mapping_.kind.empty() ? std::string() : cells_.text(row, mapping_.kind);
    auto& task = tasks_[joined_text(row, mapping_.task)];
    task.device = device_of(row);
    task.times[{cells_.text(row, mapping_.model), kind, features, costs}].push_back(*seconds);
    ++task.rows;
    return {};
  }

  Result<Table> assemble() {
    std::erase_if(tasks_, [&](const auto& task) { return task.second.rows < mapping_.least_rows; });
    if (tasks_.empty()) return bad_input(cells_.name() + ": no row is left");
    std::map<ItemKey, size_t> items;
    for (const auto& [name, task] : tasks_)
      for (const auto& [key, times] : task.times) items.emplace(key, 0);
    Table table;
    table.features = Grid(items.size(), mapping_.features.size());
    table.costs = Grid(items.size(), mapping_.costs.size());
    for (auto& [key, index] : items) {
      index = table.items.size();
      const auto& [model, kind, features, costs] = key;
      table.items.push_back({model, kind});
      for (size_t i = 0; i < features.size(); ++i) table.features.at(index, i) = features[i];
      for (size_t i = 0; i < costs.size(); ++i) table.costs.at(index, i) = costs[i];
    }
    table.seconds = Grid(tasks_.size(), items.size(), kNone);
    for (auto& [name, task] : tasks_) {
      for (auto& [key, times] : task.times)
        table.seconds.at(table.tasks.size(), items[key]) = median_of(times);
      table.tasks.push_back(name);
      table.devices.push_back(task.device);
    }
    return table;
  }

  static double median_of(std::vector<double>& times) {
    std::sort(times.begin(), times.end());
    return (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
  }

  struct Task {
    std::string device;
    std::map<ItemKey, std::vector<double>> times;
    size_t rows = 0;
  };

  const Cells& cells_;
  const Cells* joined_;
  const Mapping& mapping_;
  std::map<std::string, size_t> joined_rows_;
  std::map<std::string, Task> tasks_;
};

}  // namespace

Result<Table> make_table(const CsvSource& source, const CsvSource& joined, const Mapping& mapping) {
  ASSAY_TRY(const auto cells, Cells::read(source));
  if (mapping.join_file.empty()) return Maker(cells, nullptr, mapping).make();
  ASSAY_TRY(const auto more, Cells::read(joined));
  return Maker(cells, &more, mapping).make();
}

Result<Table> read_table(const std::filesystem::path& csv, const Mapping& mapping) {
  CsvSource source{csv.filename(), {}};
  ASSAY_TRY(source.text, read_file(csv));
  CsvSource joined{mapping.join_file, {}};
  if (!mapping.join_file.empty()) {
    ASSAY_TRY(joined.text, read_file(csv.parent_path() / mapping.join_file));
  }
  return make_table(source, joined, mapping);
}

}  // namespace assay::predict
