// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "live_table.h"
#include "report.h"

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include <assay/promapi/labels.h>
#include <assay/samples/series.h>

namespace assay::agent {

/// All that one app reports about itself.
struct AppReports {
  std::string path;  ///< of its control group; of a process without one "/process/NAME"
  std::string app;   ///< what it calls itself; else what others call it
  promapi::LabelText labels;
  std::map<std::string, std::unique_ptr<Report>> reports;  ///< by the app's name for it
  size_t callers = 0;
  Timestamp last_heard{};
};

/// Takes what apps report. Who reports is whom the kernel names: a caller belongs to the app whose
/// control group its process is in.
class Reports final : public hooks::ReportSink {
 public:
  Reports(const Clock& clock, LiveTable& table, Nanoseconds linger);

  void change_linger(Nanoseconds linger) { linger_ = linger; }

  const std::map<std::string, AppReports>& apps() const { return apps_; }
  const AppReports* of(const std::string& path) const;
  const std::vector<Loss>& losses() const { return losses_; }
  /// What belongs to apps that are gone is forgotten.
  void beat();
  /// Others have found out what the app is called.
  void relabel(const std::string& path);

  hooks::CallerId caller_connected(const hooks::Caller& caller) override;
  void caller_named(hooks::CallerId caller, std::string_view app) override;
  void caller_gone(hooks::CallerId caller) override;
  hooks::ReportId declare(hooks::CallerId caller, const hooks::ReportInfo& info) override;
  void value(hooks::CallerId caller, hooks::ReportId report, Timestamp time, double value) override;
  void durations(hooks::CallerId caller, hooks::ReportId report, Timestamp time,
                 const hooks::Histogram& added) override;
  void lost(std::optional<hooks::CallerId> caller, std::string_view reason,
            uint64_t count) override;

 private:
  struct Slot {
    Report* report = nullptr;
    double last = 0;  ///< this caller's own value
  };
  struct CallerState {
    AppReports* app = nullptr;
    std::vector<Slot> slots;
  };

  std::string path_of(const hooks::Caller& caller) const;
  void label(AppReports& app) const;
  void forget_losses_of(const std::string& path);
  CallerState& state(hooks::CallerId caller) { return callers_[static_cast<size_t>(caller)]; }
  Slot& slot(hooks::CallerId caller, hooks::ReportId report);

  const Clock& clock_;
  LiveTable& table_;
  Nanoseconds linger_;
  std::map<std::string, AppReports> apps_;
  std::deque<CallerState> callers_;
  std::vector<size_t> free_;  ///< places in `callers_`
  std::vector<Loss> losses_;
};

}  // namespace assay::agent
