// SPDX-License-Identifier: Apache-2.0
#include "test_support.h"

#include <cmath>

namespace assay::probes {

Watched::Watched(Probes probes) : probes_(std::move(probes)) {
  Probes open;
  for (auto& probe : probes_) {
    if (const auto opened = probe->open(series_); !opened) {
      closed_[std::string(probe->name())] = opened.error().message;
      gaps_.push_back({std::string(probe->name()), opened.error().message});
      continue;
    }
    for (const auto& gap : probe->not_measured()) gaps_.push_back(gap);
    open.push_back(std::move(probe));
  }
  probes_ = std::move(open);
}

void Watched::sample() {
  clock_.advance(Milliseconds(100));
  for (auto& probe : probes_) {
    if (auto sampled = probe->sample(clock_, series_); !sampled) {
      closed_[std::string(probe->name())] = sampled.error().message;
    }
  }
}

std::optional<Series> Watched::find(const std::string& name, const std::string& label) const {
  const auto list = series_.list();
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].name != name) continue;
    bool matches = label.empty();
    for (const auto& [key, text] : list[i].labels) matches = matches || text == label;
    if (matches) return series_.read(i).value();
  }
  return std::nullopt;
}

double Watched::value(const std::string& name, const std::string& label) const {
  const auto found = find(name, label);
  return !found || found->values.empty() ? std::nan("") : found->values.back();
}

std::string Watched::why_not(const std::string& what) const {
  for (const auto& gap : gaps_) {
    if (gap.what.find(what) != std::string::npos) return gap.why;
  }
  return "";
}

}  // namespace assay::probes
