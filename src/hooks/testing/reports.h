// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/hooks/report.h>

namespace assay::hooks {

/// Keeps all that callers report, for tests.
class Reports final : public ReportSink {
 public:
  struct Report {
    ReportInfo info;
    std::vector<double> values;
    std::vector<Timestamp> times;
    Histogram durations;
  };
  struct Told {
    Caller caller;
    std::string app;
    bool gone = false;
    std::deque<Report> reports;
    std::map<std::string, uint64_t, std::less<>> losses;

    const Report* find(std::string_view name) const {
      for (const Report& report : reports) {
        if (report.info.name == name) return &report;
      }
      return nullptr;
    }
    uint64_t lost(std::string_view reason) const {
      const auto found = losses.find(reason);
      return found == losses.end() ? 0 : found->second;
    }
  };

  CallerId caller_connected(const Caller& caller) override {
    callers.emplace_back().caller = caller;
    return CallerId(static_cast<uint32_t>(callers.size() - 1));
  }
  void caller_named(CallerId caller, std::string_view app) override { of(caller).app = app; }
  void caller_gone(CallerId caller) override { of(caller).gone = true; }
  ReportId declare(CallerId caller, const ReportInfo& info) override {
    auto& reports = of(caller).reports;
    reports.emplace_back().info = info;
    return ReportId(static_cast<uint32_t>(reports.size() - 1));
  }
  void value(CallerId caller, ReportId report, Timestamp time, double value) override {
    Report& told = of(caller).reports.at(static_cast<size_t>(report));
    told.values.push_back(value);
    told.times.push_back(time);
  }
  void durations(CallerId caller, ReportId report, Timestamp, const Histogram& added) override {
    of(caller).reports.at(static_cast<size_t>(report)).durations.merge(added);
  }
  void lost(std::optional<CallerId> caller, std::string_view reason, uint64_t count) override {
    (caller ? of(*caller) : nobody).losses[std::string(reason)] += count;
  }

  std::deque<Told> callers;
  Told nobody;

 private:
  Told& of(CallerId caller) { return callers.at(static_cast<size_t>(caller)); }
};

}  // namespace assay::hooks
