// SPDX-License-Identifier: Apache-2.0
#include "families/families.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <vector>

namespace assay::agent {
namespace {

using hooks::ReportKind;
using promapi::Bucket;
using promapi::FamilyKind;
using promapi::FamilyWriter;

struct Told {
  const Report* report;
  const AppReports* app;
};

FamilyKind kind_of(const Report& report) {
  if (report.info.kind == ReportKind::timer) return FamilyKind::histogram;
  return report.info.kind == ReportKind::counter ? FamilyKind::counter : FamilyKind::gauge;
}

constexpr std::array<double, 16> kBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                            0.25,   0.5,   1,      2.5,   5,    10,    30,   60};

void write_durations(FamilyWriter& out, const Told& told) {
  std::array<uint64_t, kBounds.size()> counts{};
  const hooks::Histogram& durations = told.report->durations;
  durations.count_up_to(kBounds, counts);
  std::array<Bucket, kBounds.size()> buckets{};
  for (size_t i = 0; i < kBounds.size(); ++i) buckets[i] = {kBounds[i], counts[i]};
  out.histogram(told.app->labels, {buckets, durations.sum(), durations.count()});
}

void write_family(FamilyWriter& out, std::span<const Told> family) {
  const Report& first = *family.front().report;
  // The app's own words do not belong into a text that many apps share.
  out.family(first.family, kind_of(first), "Reported by apps about themselves.");
  for (const auto& told : family) {
    // Two apps that mean different things by one name cannot both be shown under it.
    if (kind_of(*told.report) != kind_of(first)) continue;
    if (first.info.kind == ReportKind::timer)
      write_durations(out, told);
    else
      out.sample(told.app->labels, told.report->value);
  }
}

}  // namespace

void write_reports(FamilyWriter& out, const Reports& reports) {
  static thread_local std::vector<Told> all;
  all.clear();
  for (const auto& [path, app] : reports.apps())
    for (const auto& [name, report] : app.reports) all.push_back({report.get(), &app});
  std::stable_sort(all.begin(), all.end(), [](const Told& a, const Told& b) {
    return a.report->family < b.report->family;
  });
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin;
    while (end < all.size() && all[end].report->family == all[begin].report->family) ++end;
    write_family(out, std::span(all).subspan(begin, end - begin));
    begin = end;
  }
  out.family("assay_reports_lost_total", FamilyKind::counter,
             "Reports that were not taken, by whose they were and why.");
  for (const auto& loss : reports.losses()) {
    out.sample({{"reason", loss.reason}, {"source", loss.source}}, static_cast<double>(loss.count));
  }
}

}  // namespace assay::agent
