// SPDX-License-Identifier: Apache-2.0
#include "sensor_probe.h"

#include "text/node.h"

#include <fmt/format.h>

namespace assay::probes {
namespace {

std::string what(const Sensor& sensor) {
  std::string text = fmt::format("node {}", metric(sensor.metric).name);
  for (const auto& [key, value] : sensor.labels) text += fmt::format(" {}={}", key, value);
  return text;
}

}  // namespace

SensorProbe::SensorProbe(const SysRoot& root, std::string name, Pace pace,
                         std::vector<Sensor> sensors, std::string nothing, std::string advice)
    : root_(root),
      name_(std::move(name)),
      pace_(pace),
      sensors_(std::move(sensors)),
      nothing_(std::move(nothing)),
      advice_(std::move(advice)) {}

Result<void> SensorProbe::open(SampleSink& sink) {
  std::string reason = nothing_;
  for (const auto& sensor : sensors_) {
    auto open = open_sensor(sensor);
    if (!open) {
      reason = open.error().message;
      not_measured_.push_back({what(sensor), reason});
      continue;
    }
    open->series = sink.declare(describe(sensor.metric, Scope::node, sensor.source, sensor.labels));
    open_.push_back(std::move(*open));
  }
  if (open_.empty()) return refused(reason);
  return {};
}

Result<SensorProbe::OpenSensor> SensorProbe::open_sensor(const Sensor& sensor) const {
  OpenSensor open;
  open.sensor = &sensor;
  for (const auto& path : sensor.files) {
    auto file = KeptFile::open(root_, path);
    if (!file) {
      const bool denied = root_.exists(path) && !advice_.empty();
      return refused(denied ? fmt::format("{}; {}", file.error().message, advice_)
                            : file.error().message);
    }
    open.files.push_back(std::move(*file));
  }
  if (!read(open)) return refused(fmt::format("{} holds no number", sensor.files.front()));
  return open;
}

std::optional<double> SensorProbe::read(OpenSensor& open) {
  double product = open.sensor->scale;
  for (auto& file : open.files) {
    const auto text = file.read();
    const auto raw = text ? parse_first_int(*text) : std::nullopt;
    if (!raw) return std::nullopt;
    if (open.sensor->wraps_at) {
      if (*raw < open.last_raw) open.wrapped += static_cast<double>(*open.sensor->wraps_at);
      open.last_raw = *raw;
      return (static_cast<double>(*raw) + open.wrapped) * open.sensor->scale;
    }
    product *= static_cast<double>(*raw);
  }
  return product;
}

Result<void> SensorProbe::sample(const Clock& clock, SampleSink& sink) {
  for (auto& open : open_) {
    const Timestamp now = clock.now();
    if (const auto value = read(open)) sink.sample(open.series, now, *value);
  }
  return {};
}

}  // namespace assay::probes
