// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/collect/placed.h>
#include <assay/model/inspect.h>
#include <assay/placement/document.h>
#include <assay/placement/placed.h>

namespace assay::placement {
namespace {

/// Workers get one file.
Result<void> check_one_file(const std::filesystem::path& file) {
  ASSAY_TRY(const auto inspection, model::inspect(file, {}));
  if (inspection.external_files.empty()) return {};
  return bad_input(fmt::format(
      "{} has weights in other files ({}), and workers take one file: save all of it in one",
      file.native(), *inspection.external_files.begin()));
}

}  // namespace

predict::Device device_of(const Node& node, const std::vector<predict::Device>& devices) {
  predict::Device device;
  device.name = node.name;
  if (const auto found = match({node}, devices).front()) device = devices[*found];
  if (!node.uuid.empty()) device.uuid = node.uuid;
  if (!node.kind.empty()) device.kind = node.kind;
  if (!node.model.empty()) device.model = node.model;
  return device;
}

Result<PlacedModel> place(const PlacingOrder& order, const FindHost& find_host,
                          const DeployListener& listener) {
  if (!listener.wanted()) return refused("interrupted");
  ASSAY_CHECK(check_one_file(order.file));
  PlacedModel placed;
  placed.model = order.name;
  placed.characteristics = order.characteristics;
  placed.candidate = order.candidate;
  placed.device = device_of(order.candidate.node, order.devices);
  const double threads = order.candidate.threads;
  placed.threads = static_cast<int>(std::ceil(threads > 0 ? threads : placed.device.cores));
  auto plan = worker_plan(order.name, order.file, order.characteristics, placed.threads);
  plan.image = order.image;
  plan.node = order.candidate.node.name;
  plan.memory_bytes = order.candidate.memory_needed.value_or(0);
  ASSAY_TRY(const auto host, find_host(plan.node, listener.wanted));
  ASSAY_TRY(placed.deployed, deploy(*host, plan, listener));
  placed.worker = plan.name;
  placed.address = host->address();
  return placed;
}

Result<void> keep(const std::filesystem::path& table, const PlacedModel& placed) {
  const WorkerTimes& times = placed.deployed.times;
  return collect::add_placed(
      table, {.model = placed.model,
              .characteristics = placed.characteristics,
              .device = placed.device,
              .load = placed.candidate.node.load,
              .engine = times.engine.empty() ? placed.candidate.engine : times.engine,
              .engine_version = times.version,
              .threads = placed.threads,
              .seconds = times.seconds,
              .start = placed.deployed.start,
              .end = placed.deployed.end,
              .predicted_seconds = placed.candidate.seconds});
}

nlohmann::json placed_document(const PlacedModel& placed) {
  const Candidate& candidate = placed.candidate;
  return {{"worker", placed.worker},
          {"node", candidate.node.name},
          {"address", placed.address},
          {"engine", placed.deployed.times.engine},
          {"engine_version", placed.deployed.times.version},
          {"measured_seconds", placed.deployed.median()},
          {"inferences", placed.deployed.times.seconds.size()},
          {"predicted_seconds", candidate.seconds},
          {"predicted_interval", {candidate.low, candidate.high}},
          {"ratio", placed.ratio()},
          {"inside_interval", placed.inside()}};
}

std::string placed_text(const PlacedModel& placed) {
  const Candidate& candidate = placed.candidate;
  std::string text = fmt::format(
      "{} runs on {} as {}, at {}\n"
      "  measured {} (median of {}), predicted {} ({} to {}): {:.2f} times the prediction, {} the "
      "interval\n",
      placed.model, candidate.node.name, placed.worker, placed.address,
      time_text(placed.deployed.median()), placed.deployed.times.seconds.size(),
      time_text(candidate.seconds), time_text(candidate.low), time_text(candidate.high),
      placed.ratio(), placed.inside() ? "inside" : "outside");
  const std::string& engine = placed.deployed.times.engine;
  if (!engine.empty() && !candidate.engine.empty() && engine != candidate.engine)
    text += fmt::format("  the prediction was for {}, and the worker runs {}\n", candidate.engine,
                        engine);
  return text;
}

}  // namespace assay::placement
