// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kept_file.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/probes/probe.h>

namespace assay::probes {

/// What a part gives: a metric and where it is from ("cgroup v2 memory.current").
struct Output {
  MetricId metric;
  std::string source;
};

using Texts = std::span<const std::string_view>;
using Values = std::span<std::optional<double>>;

/// Some files that are read together, and how their texts become values, one per output.
struct FilePart {
  std::vector<std::string> files;
  std::vector<Output> outputs;
  void (*read)(Texts texts, Values values);
};

/// A probe of parts. What cannot be read, or is missing in a file, is not measured; the rest is.
class FileProbe final : public Probe {
 public:
  FileProbe(const SysRoot& root, std::string name, Pace pace, Scope scope,
            std::vector<FilePart> parts, std::vector<NotMeasured> absent = {});

  std::string_view name() const override { return name_; }
  Pace pace() const override { return pace_; }
  Result<void> open(SampleSink& sink) override;
  Result<void> sample(const Clock& clock, SampleSink& sink) override;
  std::vector<NotMeasured> not_measured() const override { return not_measured_; }

 private:
  struct OpenPart {
    const FilePart* part = nullptr;
    std::vector<KeptFile> files;
    std::vector<std::string_view> texts;
    std::vector<std::optional<double>> values;
    std::vector<std::optional<SeriesId>> series;
  };
  Result<OpenPart> open_part(const FilePart& part) const;
  void declare(OpenPart& open, SampleSink& sink);
  static bool read(OpenPart& open);

  SysRoot root_;
  std::string name_;
  Pace pace_;
  Scope scope_;
  std::vector<FilePart> parts_;
  std::vector<OpenPart> open_;
  std::vector<NotMeasured> not_measured_;
};

/// "app memory_bytes", as the list of what was not measured names it.
std::string name_of(Scope scope, MetricId metric);

inline std::optional<double> as_double(std::optional<uint64_t> number) {
  if (!number) return std::nullopt;
  return static_cast<double>(*number);
}

}  // namespace assay::probes
