// SPDX-License-Identifier: Apache-2.0
#include "measurer.h"
#include "row_file.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <system_error>

#include <assay/base/text.h>
#include <assay/collect/collect.h>
#include <assay/infer/engine.h>
#include <assay/infer/find_engine.h>
#include <assay/model/workload.h>
#include <assay/predict/profile.h>
#include <assay/predict/runs.h>
#include <assay/probes/probe.h>

namespace assay::collect {
namespace fs = std::filesystem;
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr size_t kMostProfiles = 5;  ///< of a model on an engine
constexpr double kProfileSeconds = 0.4;
constexpr double kMostIdle = 20;  ///< percent of load beside rows that are meant to be idle
constexpr int kMostUntold = 3;    ///< models in a row; then the engine is taken not to tell

struct FoundEngine {
  std::vector<std::string> command;
  std::string name;
  std::string version;
};

Result<std::vector<FoundEngine>> find_engines(const Options& options) {
  std::vector<FoundEngine> found;
  for (const auto& wanted : options.engines) {
    ASSAY_TRY(auto command, infer::engine_command(wanted));
    const auto engine = infer::Engine::start(command);
    if (!engine)
      return refused(
          fmt::format("the engine {} does not start: {}", wanted, engine.error().message));
    const bool known = std::any_of(found.begin(), found.end(),
                                   [&](const auto& other) { return other.name == engine->name(); });
    if (known) return bad_input(fmt::format("the engine {} is named twice", engine->name()));
    found.push_back({std::move(command), engine->name(), engine->version()});
  }
  return found;
}

Result<std::vector<fs::path>> find_models(const fs::path& place) {
  std::error_code error;
  if (fs::is_regular_file(place, error)) return std::vector<fs::path>{fs::absolute(place)};
  std::vector<fs::path> models;
  for (const auto& entry : fs::directory_iterator(place, error))
    if (entry.path().extension() == ".onnx") models.push_back(fs::absolute(entry.path()));
  if (error)
    return bad_input(fmt::format("cannot read the folder {}: {}", place.native(), error.message()));
  if (models.empty())
    return bad_input(fmt::format("{} has no .onnx file; `assay model make --set {}` fills it",
                                 place.native(), place.native()));
  std::sort(models.begin(), models.end());
  return models;
}

/// What the file leaves open is as `characteristics` took it; what nobody can tell is 1.
std::map<std::string, std::vector<int64_t>> shapes_of(const model::Characteristics& model) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& input : model.inputs) {
    auto& shape = shapes[input.name];
    for (const int64_t size : input.known.dims.value_or(model::Dims()))
      shape.push_back(std::max<int64_t>(size, 1));
  }
  return shapes;
}

std::optional<ImageShape> image_of(const model::Characteristics& model) {
  if (model.inputs.size() != 1 || model.inputs.front().known.type != model::kFloat)
    return std::nullopt;
  return image_shape(shapes_of(model).begin()->second);
}

/// One call of collect().
class Collector {
 public:
  Collector(const Options& options, const Listener& listener, const Device& device, RowFile file,
            Measurer measurer, std::vector<FoundEngine> engines)
      : options_(options),
        listener_(listener),
        device_(device),
        file_(std::move(file)),
        measurer_(std::move(measurer)),
        engines_(std::move(engines)),
        cores_(cores_of(options.share)),
        threads_(options.threads > 0 ? options.threads
                                     : std::max(1, static_cast<int>(std::ceil(cores_)))) {
    sum_.before = file_.rows();
    sum_.bad_images = measurer_.bad_images();
  }

  Result<Collected> run(const std::vector<fs::path>& models) {
    sum_.models = models.size();
    for (const auto& model : models) {
      for (const auto& engine : engines_)
        progress_.total += todo(first_row(name_of(model), engine));
    }
    for (const auto& model : models) {
      if (auto measured = run_model(model); !measured) {
        if (listener_.wanted()) return fail(measured.error());
        sum_.interrupted = true;
        break;
      }
    }
    return sum_;
  }

 private:
  /// "bert", and with sizes that were chosen "bert[sequence=128]".
  std::string name_of(const fs::path& model) const {
    std::string sizes;
    for (const auto& [name, size] : options_.dims.dims)
      sizes += fmt::format("{}{}={}", sizes.empty() ? "" : " ", name, size);
    return model.stem().native() + (sizes.empty() ? "" : "[" + sizes + "]");
  }
  Background background(const std::string& model, int iteration) const {
    return background_of(options_, cores_, model, iteration);
  }
  bool is_there(const Row& row, int iteration) const {
    return file_.known(Setting::of(row))
        .iterations.contains({iteration, background(row.model, iteration).text()});
  }
  size_t todo(const Row& row) const {
    const Known& known = file_.known(Setting::of(row));
    if (known.refused) return 0;
    size_t left = 0;
    for (int i = 0; i < options_.iterations; ++i) left += is_there(row, i) ? 0 : 1;
    return left;
  }

  /// Rows of one name are of one model.
  Result<void> check_same(const Known& known, const fs::path& model,
                          const model::Counts& counts) const {
    if (!known.parameters || *known.parameters == counts.total_parameters) return {};
    return bad_input(fmt::format(
        "{} has rows of another model called {}, with {} parameters, where {} has {}: give the "
        "model another name, or the table (-o)",
        options_.file.native(), name_of(model), format_number(*known.parameters), model.native(),
        format_number(counts.total_parameters)));
  }

  Result<void> run_model(const fs::path& model) {
    const std::string stem = name_of(model);
    const auto characteristics = model::characteristics(model, options_.dims);
    for (const auto& engine : engines_) {
      Row row = first_row(stem, engine);
      const Known& known = file_.known(Setting::of(row));
      if (known.unreadable && !characteristics) {
        progress_.done += todo(row);
        continue;
      }
      if (characteristics) ASSAY_CHECK(check_same(known, model, characteristics->counts));
      const size_t left = todo(row);
      if (left == 0) continue;
      if (!listener_.wanted()) return refused("interrupted");
      const size_t done = progress_.done;
      if (characteristics) row.characteristics = *characteristics;
      const auto measured = characteristics ? run_engine(model, engine, row)
                                            : add_refused(row, characteristics.error().message);
      ASSAY_CHECK(measured);
      progress_.done = done + left;
    }
    return {};
  }

  Result<void> run_engine(const fs::path& model, const FoundEngine& found, Row row) {
    std::optional<infer::Engine> engine;
    for (row.iteration = 0; row.iteration < options_.iterations; ++row.iteration) {
      if (is_there(row, row.iteration)) continue;
      if (!engine) {
        ASSAY_TRY(engine, start(found));
        const auto loaded = engine->load({.file = model,
                                          .threads = threads_,
                                          .shapes = shapes_of(*row.characteristics),
                                          .gpu = options_.gpu});
        if (!loaded) return add_refused(row, loaded.error().message);
      }
      Row measured = row;
      ASSAY_CHECK(measurer_.measure(*engine, background(row.model, row.iteration),
                                    image_of(*row.characteristics), measured, listener_.wanted));
      if (measured.status == "refused") return add_refused(measured, measured.error);
      if (measured.status == "late") {
        engine.reset();
        add_late(measured);
        continue;
      }
      if (measured.background == "idle") add_pieces(model, engine, measured);
      ASSAY_CHECK(add(measured));
    }
    return {};
  }

  /// What the pieces of a model take, where the engine tells. A few times are enough.
  void add_pieces(const fs::path& model, std::optional<infer::Engine>& engine, Row& row) {
    const bool enough = file_.known(Setting::of(row)).profiles >= kMostProfiles;
    if (enough || untold_[row.engine] >= kMostUntold) return;
    const auto told = engine->profile(
        {.count = options_.inferences, .seconds = kProfileSeconds, .patience = options_.patience});
    if (!told) {
      ++untold_[row.engine];
      if (told.error().temporary || engine->pid() == 0) engine.reset();
      return;
    }
    untold_[row.engine] = 0;
    const auto pieces = model::pieces(model, options_.dims);
    if (!pieces) return;
    std::vector<model::OperatorTime> times;
    for (const auto& one : told->operators) times.push_back({one.name, one.seconds});
    // Telling takes time of its own, which is none of the operators'.
    const double whole = std::min(told->seconds, quantile(row.times, 0.5));
    auto seconds = model::piece_seconds(*pieces, times, whole);
    if (!seconds.empty()) row.pieces = predict::profile_text({pieces->list, std::move(seconds)});
  }

  Result<infer::Engine> start(const FoundEngine& found) const {
    auto engine = infer::Engine::start(found.command);
    if (!engine)
      return refused(
          fmt::format("the engine {} does not start: {}", found.name, engine.error().message));
    engine->while_wanted(listener_.wanted);
    return engine;
  }

  Row first_row(const std::string& model, const FoundEngine& engine) const {
    Row row;
    row.model = model;
    row.family = options_.family.empty() ? predict::family_of(model) : options_.family;
    row.engine = engine.name + (options_.gpu ? "-gpu" : "");
    row.engine_version = engine.version;
    row.threads = threads_;
    row.cores = cores_;
    row.device = options_.device;
    row.device_uuid = device_.machine_id;
    row.device_class = device_.device_class;
    row.device_model = device_.model.empty() ? device_.cpu_model : device_.model;
    return row;
  }

  Result<void> add(Row& row) {
    const double median = quantile(row.times, 0.5);
    row.outlier = is_outlier(file_.known(Setting::of(row)), {row.load_percent.value_or(0), median});
    ASSAY_CHECK(file_.add(row));
    ++sum_.measured;
    if (row.outlier) ++sum_.outliers;
    if (const double load = row.load_percent.value_or(0);
        row.background == "idle" && load > kMostIdle) {
      ++sum_.disturbed;
      sum_.most_disturbed = std::max(sum_.most_disturbed, load);
    }
    ++progress_.done;
    tell(fmt::format("{} {} {}: {} ms", row.model, row.engine, row.background,
                     format_number(median * 1000)));
    return {};
  }

  Result<void> add_refused(Row row, const std::string& why) {
    if (!listener_.wanted()) return refused("interrupted");
    row.status = "refused";
    row.error = in_one_line(why);
    row.times.clear();
    ASSAY_CHECK(file_.add(row));
    ++sum_.refused;
    tell(fmt::format("{} {} refused: {}", row.model, row.engine, row.error));
    return {};
  }

  void add_late(const Row& row) {
    ++sum_.late;
    ++progress_.done;
    tell(fmt::format("{} {} {}: {}", row.model, row.engine, row.background, row.error));
  }

  void tell(std::string what) {
    progress_.what = std::move(what);
    const double passed = std::chrono::duration<double>(SteadyClock::now() - begin_).count();
    const auto left =
        static_cast<double>(progress_.total - std::min(progress_.done, progress_.total));
    if (progress_.done > 0)
      progress_.seconds_left = passed / static_cast<double>(progress_.done) * left;
    if (listener_.progress) listener_.progress(progress_);
  }

  const Options& options_;
  const Listener& listener_;
  const Device& device_;
  RowFile file_;
  Measurer measurer_;
  std::vector<FoundEngine> engines_;
  double cores_;
  int threads_;
  Progress progress_;
  Collected sum_;
  std::map<std::string, int> untold_;  ///< how often an engine could not tell what operators take
  SteadyClock::time_point begin_ = SteadyClock::now();
};

}  // namespace

std::string find_gpu(const SysRoot& root) {
  // A container may have been given /dev/nvidia3 alone.
  for (const auto& name : root.list("/dev"))
    if (name.starts_with("nvidia") && parse_uint(name.substr(6))) return "/dev/" + name;
  for (const char* file : {"/dev/nvhost-gpu", "/dev/nvgpu", "/dev/kfd"})
    if (root.exists(file)) return file;
  return "";
}

Result<void> check(const Options& options) {
  ASSAY_TRY(const auto models, find_models(options.models));
  const auto has_work = [](const Background& one) { return one.workers > 0; };
  const auto& turns = options.backgrounds;
  const bool drawn = turns.empty() && options.load == Load::stress && options.iterations > 1;
  if (drawn || std::any_of(turns.begin(), turns.end(), has_work)) ASSAY_CHECK(check_stress());
  for (const auto& engine : options.engines) ASSAY_CHECK(infer::engine_command(engine));
  return {};
}

Result<Collected> collect(const Options& options, const Listener& listener) {
  ASSAY_TRY(const auto models, find_models(options.models));
  const Device device = probes::read_device(SysRoot());
  ASSAY_TRY(Measurer measurer, Measurer::make(options, device, listener.wanted));
  ASSAY_TRY(RowFile file, RowFile::open(options.file));
  ASSAY_TRY(auto engines, find_engines(options));
  return Collector(options, listener, device, std::move(file), std::move(measurer),
                   std::move(engines))
      .run(models);
}

}  // namespace assay::collect
