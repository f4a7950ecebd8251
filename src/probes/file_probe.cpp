// SPDX-License-Identifier: Apache-2.0
#include "file_probe.h"

#include <algorithm>
#include <fmt/format.h>

namespace assay::probes {

std::string name_of(Scope scope, MetricId id) {
  return fmt::format("{} {}", to_string(scope), metric(id).name);
}

FileProbe::FileProbe(const SysRoot& root, std::string name, Pace pace, Scope scope,
                     std::vector<FilePart> parts, std::vector<NotMeasured> absent)
    : root_(root),
      name_(std::move(name)),
      pace_(pace),
      scope_(scope),
      parts_(std::move(parts)),
      not_measured_(std::move(absent)) {}

Result<void> FileProbe::open(SampleSink& sink) {
  std::string reason = "there is nothing to read";
  for (const auto& part : parts_) {
    auto open = open_part(part);
    if (!open) {
      reason = open.error().message;
      for (const auto& output : part.outputs) {
        not_measured_.push_back({name_of(scope_, output.metric), reason});
      }
      continue;
    }
    declare(*open, sink);
    open_.push_back(std::move(*open));
  }
  if (open_.empty()) return refused(reason);
  return {};
}

Result<FileProbe::OpenPart> FileProbe::open_part(const FilePart& part) const {
  OpenPart open;
  open.part = &part;
  for (const auto& path : part.files) {
    ASSAY_TRY(KeptFile file, KeptFile::open(root_, path));
    open.files.push_back(std::move(file));
  }
  open.texts.resize(part.files.size());
  open.values.resize(part.outputs.size());
  open.series.resize(part.outputs.size());
  if (!read(open)) return refused(fmt::format("cannot read {}", part.files.front()));
  const bool any =
      std::any_of(open.values.begin(), open.values.end(), [](const auto& v) { return v; });
  if (!any) return refused(fmt::format("{} has none of the expected values", part.files.back()));
  return open;
}

void FileProbe::declare(OpenPart& open, SampleSink& sink) {
  for (size_t i = 0; i < open.values.size(); ++i) {
    const Output& output = open.part->outputs[i];
    if (open.values[i]) {
      open.series[i] = sink.declare(describe(output.metric, scope_, output.source));
    } else {
      not_measured_.push_back(
          {name_of(scope_, output.metric),
           fmt::format("{} has no such value on this kernel", open.part->files.back())});
    }
  }
}

bool FileProbe::read(OpenPart& open) {
  for (size_t i = 0; i < open.files.size(); ++i) {
    const auto text = open.files[i].read();
    if (!text) return false;
    open.texts[i] = *text;
  }
  std::fill(open.values.begin(), open.values.end(), std::nullopt);
  open.part->read(open.texts, open.values);
  return true;
}

Result<void> FileProbe::sample(const Clock& clock, SampleSink& sink) {
  bool any = false;
  for (auto& open : open_) {
    const Timestamp now = clock.now();
    if (!read(open)) continue;
    any = true;
    for (size_t i = 0; i < open.values.size(); ++i) {
      if (open.series[i] && open.values[i]) sink.sample(*open.series[i], now, *open.values[i]);
    }
  }
  if (!any) return refused(fmt::format("{} is gone", open_.front().part->files.front()));
  return {};
}

}  // namespace assay::probes
