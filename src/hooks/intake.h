// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "budget.h"
#include "losses.h"
#include "message_parser.h"
#include "reading_rules.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <assay/hooks/histogram.h>
#include <assay/hooks/report.h>
#include <assay/hooks/server.h>
#include <assay/samples/series.h>

namespace assay::hooks {

/// One value out of a ring.
struct Event {
  uint32_t slot = 0;
  double value = 0;
  double time = 0;  ///< Unix seconds
};

/// What becomes of what one client says; lives as long as its connection.
class Intake {
 public:
  virtual ~Intake() = default;
  virtual void name_app(const Reading& reading, Losses& losses) = 0;
  virtual void name_slot(const Reading& reading, Losses& losses) = 0;
  /// False when it is refused.
  virtual bool name_histogram(const Reading& reading, Losses& losses) = 0;
  virtual void take(const Reading& reading, const Arrival& arrival, Losses& losses) = 0;
  virtual void take(const Event& event, const Arrival& arrival, Losses& losses) = 0;
  virtual void take_durations(uint32_t histogram, const Histogram& added,
                              const Arrival& arrival) = 0;
  /// Passes on the durations that came one by one; once a visit.
  virtual void end_visit(const Arrival& arrival) = 0;
  virtual void tell(Losses& losses) = 0;
};

/// The intakes of one server.
class Intakes {
 public:
  virtual ~Intakes() = default;
  /// `budget` is the client's own and outlives its intake.
  virtual std::unique_ptr<Intake> meet(const Caller& caller, Budget& budget) = 0;
  /// Losses of nobody in particular.
  virtual void tell(Losses& losses) = 0;
  virtual bool wants_histograms() const = 0;
  virtual const std::map<std::string, double>& latest() const = 0;
};

/// Every value becomes a sample, also those of timers.
std::unique_ptr<Intakes> intakes_for(SampleSink& sink, const Limits& limits);
/// Timers become histograms, and callers are kept apart.
std::unique_ptr<Intakes> intakes_for(ReportSink& sink, const Limits& limits);

}  // namespace assay::hooks
