// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <assay/base/time.h>
#include <assay/samples/metric.h>

namespace assay {

/// Whom a series tells about.
enum class Scope : uint8_t {
  app,       ///< the profiled application alone
  node,      ///< the whole machine
  profiler,  ///< what Assay itself costs
  need,      ///< what runs beside the app because it needs it; the label `need` has its name
};

/// Sorted by key; small.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// What a series is. Two series of one run differ in scope, name or labels.
struct SeriesInfo {
  std::string name;  ///< from the catalogue, or as the app reported it (Kind::event)
  std::string unit;  ///< empty for what an app reports without one
  Kind kind = Kind::gauge;
  Scope scope = Scope::app;
  std::string
      source;  ///< where the value comes from: "cgroup v2 memory.current", "reported by pid 12"
  Labels labels;

  bool operator==(const SeriesInfo&) const = default;
};

/// A SeriesInfo with name, unit and kind from the catalogue.
SeriesInfo describe(MetricId id, Scope scope, std::string source, Labels labels = {});

/// Given by a sink; dense from 0 in the order of declaration.
enum class SeriesId : uint32_t {};

/// Something that was not recorded: dropped events, refused input, late beats. Loss is data.
struct Loss {
  std::string source;  ///< "hooks", "sampler", ...
  std::string reason;  ///< in plain words, also the key under which counts add up
  uint64_t count = 1;

  bool operator==(const Loss&) const = default;
};

/// Where measurements are pushed. `sample` allocates nothing in steady state and never blocks on
/// I/O; times within one series must not decrease. Called from one thread.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  /// Declaring an equal SeriesInfo again gives the same id.
  virtual SeriesId declare(const SeriesInfo& info) = 0;
  virtual void sample(SeriesId id, Timestamp time, double value) = 0;
  virtual void lost(const Loss& loss) = 0;
};

/// A series with its samples, oldest first; `times` and `values` have one length.
struct Series {
  SeriesInfo info;
  std::vector<Timestamp> times;
  std::vector<double> values;
};

/// Where measurements of one run are pulled from.
class SeriesReader {
 public:
  virtual ~SeriesReader() = default;
  virtual std::vector<SeriesInfo> list() const = 0;
  /// Index into list().
  virtual Result<Series> read(size_t index) const = 0;
};

/// Keeps everything in memory: for tests, for what is on screen, for small tools.
class MemorySeries final : public SampleSink, public SeriesReader {
 public:
  SeriesId declare(const SeriesInfo& info) override;
  void sample(SeriesId id, Timestamp time, double value) override;
  void lost(const Loss& loss) override;

  std::vector<SeriesInfo> list() const override;
  Result<Series> read(size_t index) const override;

  const std::vector<Loss>& losses() const { return losses_; }
  /// The first series of that name and scope; nullptr when there is none.
  const Series* find(std::string_view name, Scope scope = Scope::app) const;

 private:
  std::vector<Series> series_;
  std::vector<Loss> losses_;
};

/// Adds a loss to a list that has one entry per source and reason.
void add_loss(std::vector<Loss>& losses, const Loss& loss);

std::string_view to_string(Scope scope);

}  // namespace assay
