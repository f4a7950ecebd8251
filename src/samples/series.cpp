// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <assay/samples/series.h>

namespace assay {

SeriesInfo describe(MetricId id, Scope scope, std::string source, Labels labels) {
  const Metric& m = metric(id);
  return {std::string(m.name), std::string(m.unit), m.kind, scope,
          std::move(source),   std::move(labels)};
}

SeriesId MemorySeries::declare(const SeriesInfo& info) {
  const auto found =
      std::find_if(series_.begin(), series_.end(), [&](const Series& s) { return s.info == info; });
  if (found == series_.end()) {
    series_.push_back({info, {}, {}});
    return SeriesId(series_.size() - 1);
  }
  return SeriesId(found - series_.begin());
}

void MemorySeries::sample(SeriesId id, Timestamp time, double value) {
  Series& series = series_[static_cast<size_t>(id)];
  series.times.push_back(time);
  series.values.push_back(value);
}

void MemorySeries::lost(const Loss& loss) {
  add_loss(losses_, loss);
}

std::vector<SeriesInfo> MemorySeries::list() const {
  std::vector<SeriesInfo> infos;
  infos.reserve(series_.size());
  for (const auto& s : series_) infos.push_back(s.info);
  return infos;
}

Result<Series> MemorySeries::read(size_t index) const {
  if (index >= series_.size()) return fail(ErrorKind::internal, "no series with that index");
  return series_[index];
}

const Series* MemorySeries::find(std::string_view name, Scope scope) const {
  const auto found = std::find_if(series_.begin(), series_.end(), [&](const Series& s) {
    return s.info.name == name && s.info.scope == scope;
  });
  return found == series_.end() ? nullptr : &*found;
}

void add_loss(std::vector<Loss>& losses, const Loss& loss) {
  const auto found = std::find_if(losses.begin(), losses.end(), [&](const Loss& l) {
    return l.source == loss.source && l.reason == loss.reason;
  });
  if (found == losses.end()) {
    losses.push_back(loss);
  } else {
    found->count += loss.count;
  }
}

std::string_view to_string(Scope scope) {
  switch (scope) {
    case Scope::app:
      return "app";
    case Scope::node:
      return "node";
    case Scope::profiler:
      return "profiler";
    case Scope::need:
      return "need";
  }
  return "app";
}

}  // namespace assay
