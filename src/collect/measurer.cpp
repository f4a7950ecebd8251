// SPDX-License-Identifier: Apache-2.0
#include "measurer.h"

#include <algorithm>

namespace assay::collect {
namespace {

/// Slow models get so many however long they take, for a median.
constexpr size_t kFewest = 5;
constexpr double kLongest = 60;
constexpr int kWarmUps = 3;
constexpr double kWarmUpSeconds = 0.3;

}  // namespace

Measurer::Measurer(const Options& options, const Device& device, std::optional<ImageInputs> images)
    : options_(options),
      images_(std::move(images)),
      load_(std::make_unique<LoadMeter>(options.share)),
      node_(std::make_unique<NodeMeter>(device)) {}

Result<Measurer> Measurer::make(const Options& options, const Device& device,
                                const std::function<bool()>& wanted) {
  std::optional<ImageInputs> images;
  if (!options.images.empty()) {
    ASSAY_TRY(images, ImageInputs::open(options.images, options.iterations, wanted));
  }
  return Measurer(options, device, std::move(images));
}

Result<std::vector<double>> Measurer::time(infer::Engine& engine, const infer::RunRequest& request,
                                           Row& row) {
  node_->begin();
  const CpuTimes before = load_->read();
  row.start = clock_.now();
  ASSAY_TRY(std::vector<double> times, engine.run(request));
  if (times.size() < kFewest && static_cast<int>(times.size()) < request.count) {
    infer::RunRequest more = request;
    more.count =
        std::min(request.count, static_cast<int>(kFewest)) - static_cast<int>(times.size());
    more.seconds = kLongest;
    ASSAY_TRY(const std::vector<double> others, engine.run(more));
    times.insert(times.end(), others.begin(), others.end());
  }
  row.end = clock_.now();
  row.cpu_percent = LoadMeter::percent(before, load_->read());
  const NodeUse use = node_->end();
  row.memory_percent = use.memory_percent;
  row.disk_read_bytes = use.disk_read_bytes;
  row.disk_write_bytes = use.disk_write_bytes;
  if (use.joules) row.joules = *use.joules / static_cast<double>(times.size());
  std::sort(times.begin(), times.end());
  return times;
}

Result<void> Measurer::measure(infer::Engine& engine, const Background& background,
                               const std::optional<ImageShape>& image, Row& row,
                               const std::function<bool()>& wanted) {
  infer::RunRequest request{.count = options_.inferences,
                            .seconds = options_.seconds,
                            .patience = options_.patience,
                            .seed = options_.seed + static_cast<uint64_t>(row.iteration) + 1};
  if (images_ && image) {
    ASSAY_TRY(request.input, images_->make(*image, row.iteration));
  }
  row.background = background.text();
  row.disk_percent = disk_percent();
  ASSAY_TRY(RunningBackground running, RunningBackground::start(background));
  ASSAY_TRY(const auto before, load_->settled(wanted));
  infer::RunRequest warm_up = request;
  warm_up.count = kWarmUps;
  warm_up.seconds = kWarmUpSeconds;
  auto times = engine.run(warm_up);
  if (times) times = time(engine, request, row);
  if (!wanted()) return refused("interrupted");
  if (!times) {
    // What an idle device does not do in time it never will.
    row.status = times.error().temporary && background.workers > 0 ? "late" : "refused";
    row.error = times.error().message;
    return {};
  }
  ASSAY_CHECK(running.check());
  const auto after = load_->window();
  if (before && after) row.load_percent = (2 * *before + *after) / 3;
  row.times = std::move(*times);
  row.status = "ok";
  return {};
}

}  // namespace assay::collect
