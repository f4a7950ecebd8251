// SPDX-License-Identifier: Apache-2.0
#include "model_file.h"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::predict {
namespace {

using nlohmann::json;

constexpr int kSchema = 1;
constexpr double kMostFactor = 100;

// --- Writing ---

json json_of(const Grid& grid) {
  return {{"rows", grid.rows}, {"columns", grid.columns}, {"values", grid.values}};
}
json json_of(const Process& process) {
  const Kernel& kernel = process.kernel;
  return {{"kernel",
           {{"linear", kernel.linear},
            {"smooth", kernel.smooth},
            {"noise", kernel.noise},
            {"inverse_lengths", kernel.inverse_lengths}}},
          {"weights", json_of(process.weights)},
          {"centres", process.centres}};
}
json json_of(const ByPieces& by_pieces) {
  json kinds = json::array();
  for (const auto& kind : by_pieces.kinds)
    kinds.push_back({{"kind", kind.name},
                     {"tasks", kind.tasks},
                     {"means", kind.learned.means},
                     {"scales", kind.learned.scales},
                     {"base", json_of(kind.learned.base)},
                     {"items", json_of(kind.learned.items)},
                     {"plain", json_of(kind.learned.plain)},
                     {"on_base", json_of(kind.learned.on_base)}});
  return kinds;
}
/// By pieces whole models tell as well, unless they were too many.
bool has_processes(const Idle& idle) {
  return idle.method == Method::processes ||
         (idle.method == Method::pieces && idle.learned.items.rows > 0);
}
json json_of(const Idle& idle) {
  json found = {{"method", kMethodNames.at(static_cast<size_t>(idle.method))},
                {"means", idle.learned.means},
                {"scales", idle.learned.scales},
                {"base", json_of(idle.learned.base)}};
  if (idle.method == Method::pieces) {
    found["kinds"] = json_of(idle.pieces);
    found["whole_shares"] = idle.whole_shares;
  }
  if (has_processes(idle)) {
    found["items"] = json_of(idle.learned.items);
    found["plain"] = json_of(idle.learned.plain);
    found["on_base"] = json_of(idle.learned.on_base);
  }
  if (idle.method == Method::linear) found["linear"] = json_of(idle.linear);
  if (idle.method == Method::boosted)
    for (const auto& booster : idle.boosters) found["boosters"].push_back(json::parse(booster));
  return found;
}
json json_of(const std::vector<Formula>& formulas) {
  json texts = json::array();
  for (const auto& formula : formulas) texts.push_back(formula.text);
  return texts;
}
json json_of(const std::vector<Range>& ranges) {
  json found = json::array();
  for (const auto& range : ranges) found.push_back({range.lowest, range.highest});
  return found;
}
json json_of(const Teller& teller) {
  json columns = json::object();
  for (size_t i = 0; i < teller.columns.size(); ++i)
    columns[std::string(column_name(i))] = {teller.columns[i].lowest, teller.columns[i].highest};
  return {{"features", json_of(teller.recipe.features)},
          {"costs", json_of(teller.recipe.costs)},
          {"tasks", teller.tasks},
          {"idle", json_of(teller.idle)},
          {"feature_ranges", json_of(teller.features)},
          {"ranges", columns},
          {"widths", teller.widths},
          {"widening", teller.widening}};
}

json json_of(const Unmeasured& one) {
  json kin = json::array();
  for (const auto& other : one.kin) kin.push_back({{"task", other.task}, {"usual", other.usual}});
  return {{"task", one.task}, {"kin", kin}, {"width", one.width}};
}
json json_of(const Task& task) {
  return {{"device", task.device}, {"engine", task.engine}, {"precision", task.precision}};
}

std::vector<double> workload_values(const model::Workload& workload) {
  std::vector<double> values;
  values.reserve(model::kWorkloadColumns.size());
  for (const auto& column : model::kWorkloadColumns) values.push_back(workload.*column.value);
  return values;
}

json json_of(const Runs& runs) {
  json found;
  for (const auto& task : runs.tasks) found["tasks"].push_back(json_of(task));
  for (const auto& model : runs.models)
    found["models"].push_back(
        {{"name", model.name},
         {"family", model.family},
         {"has_workload", model.workload.has_value()},
         {"numbers", column_values(model.counts, model.workload ? &*model.workload : nullptr)}});
  for (const auto& run : runs.runs) {
    found["model"].push_back(run.model);
    found["task"].push_back(run.task);
    found["load"].push_back(run.load);
    found["threads"].push_back(run.threads);
    found["seconds"].push_back(run.seconds);
    found["outlier"].push_back(run.outlier ? 1 : 0);
    found["joules"].push_back(run.joules);
  }
  for (const auto& one : runs.profiles)
    found["profiles"].push_back({{"model", one.model},
                                 {"task", one.task},
                                 {"threads", one.threads},
                                 {"pieces", profile_text(one.profile)}});
  return found;
}

// --- Reading: what has a wrong type throws and is told by `guarded` ---

/// What is there but makes no sense.
void insist(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

std::vector<double> numbers_of(const json& list) {
  auto values = list.get<std::vector<double>>();
  for (const double value : values) insist(std::isfinite(value), "a number is none");
  return values;
}
Grid grid_of(const json& from) {
  Grid grid;
  grid.rows = from.at("rows").get<size_t>();
  grid.columns = from.at("columns").get<size_t>();
  grid.values = numbers_of(from.at("values"));
  const bool whole = grid.columns == 0 ? grid.values.empty()
                                       : grid.values.size() % grid.columns == 0 &&
                                             grid.values.size() / grid.columns == grid.rows;
  insist(whole && (grid.columns > 0 || grid.rows == 0),
         "a grid has more or fewer values than it says");
  return grid;
}
void insist_size(const Grid& grid, size_t rows, size_t columns) {
  insist(grid.rows == rows && grid.columns == columns, "grids do not fit together");
}
Process process_of(const json& from, size_t tasks, const Grid& items) {
  Process process;
  const json& kernel = from.at("kernel");
  process.kernel.linear = kernel.at("linear").get<double>();
  process.kernel.smooth = kernel.at("smooth").get<double>();
  process.kernel.noise = kernel.at("noise").get<double>();
  process.kernel.inverse_lengths = numbers_of(kernel.at("inverse_lengths"));
  insist(process.kernel.inverse_lengths.size() == items.columns, "a feature has no length");
  process.weights = grid_of(from.at("weights"));
  process.centres = numbers_of(from.at("centres"));
  insist_size(process.weights, tasks, items.rows);
  insist(process.centres.size() == tasks, "a task has no centre");
  return process;
}

Method method_of(const std::string& name) {
  for (size_t i = 0; i < kMethodNames.size(); ++i)
    if (kMethodNames.at(i) == name) return static_cast<Method>(i);
  throw std::invalid_argument("it was learned in a way that this assay does not know");
}

ByPieces pieces_of(const json& from, size_t tasks) {
  ByPieces found;
  found.tasks = tasks;
  for (const auto& one : from) {
    PieceKind kind{
        one.at("kind").get<std::string>(), one.at("tasks").get<std::vector<size_t>>(), {}};
    for (size_t i = 0; i < kind.tasks.size(); ++i)
      insist(kind.tasks[i] < tasks && (i == 0 || kind.tasks[i - 1] < kind.tasks[i]),
             "there is no such task");
    Learned& learned = kind.learned;
    learned.means = numbers_of(one.at("means"));
    learned.scales = numbers_of(one.at("scales"));
    insist(learned.means.size() == piece_features() && learned.scales.size() == piece_features(),
           "its pieces are of another version of assay; assay train learns them anew, also with "
           "--update");
    learned.base = grid_of(one.at("base"));
    insist_size(learned.base, kind.tasks.size(), piece_costs() + 1);
    learned.items = grid_of(one.at("items"));
    insist_size(learned.items, learned.items.rows, piece_features());
    learned.plain = process_of(one.at("plain"), kind.tasks.size(), learned.items);
    learned.on_base = process_of(one.at("on_base"), kind.tasks.size(), learned.items);
    found.kinds.push_back(std::move(kind));
  }
  insist(!found.kinds.empty() && found.kinds.back().name.empty() &&
             found.kinds.back().tasks.size() == tasks,
         "a task has no pieces");
  return found;
}

/// Trees are read after all else, as they say themselves what is wrong.
Idle idle_of(const json& from, const Recipe& recipe, size_t tasks) {
  Idle idle;
  idle.method = method_of(from.at("method").get<std::string>());
  if (idle.method == Method::pieces) {
    idle.pieces = pieces_of(from.at("kinds"), tasks);
    idle.whole_shares = numbers_of(from.value("whole_shares", json::array()));
    insist(idle.whole_shares.empty() || idle.whole_shares.size() == tasks,
           "a task has no share of whole models");
    for (const double share : idle.whole_shares)
      insist(share >= 0 && share <= 1, "a share is none");
  }
  Learned& learned = idle.learned;
  const size_t features = recipe.features.size();
  learned.means = numbers_of(from.at("means"));
  learned.scales = numbers_of(from.at("scales"));
  insist(learned.means.size() == features && learned.scales.size() == features,
         "a feature has no scale");
  learned.base = grid_of(from.at("base"));
  insist_size(learned.base, tasks, recipe.costs.size() + 1);
  learned.items = Grid(0, features);
  if (idle.method == Method::processes ||
      (idle.method == Method::pieces && from.contains("items"))) {
    learned.items = grid_of(from.at("items"));
    insist_size(learned.items, learned.items.rows, features);
    learned.plain = process_of(from.at("plain"), tasks, learned.items);
    learned.on_base = process_of(from.at("on_base"), tasks, learned.items);
  }
  if (idle.method == Method::linear) {
    idle.linear = grid_of(from.at("linear"));
    insist_size(idle.linear, tasks, features + 1);
  }
  return idle;
}
Result<void> read_trees(const json& from, size_t tasks, size_t features, Idle& idle) {
  if (idle.method != Method::boosted) return {};
  for (const auto& document : from.at("boosters")) {
    ASSAY_TRY(auto trees, Trees::parse(document));
    insist(trees.columns() == features, "trees ask for other features");
    idle.trees.push_back(std::move(trees));
  }
  insist(idle.trees.size() == tasks, "a task has no trees");
  return {};
}

Range range_of(const json& from) {
  const auto both = numbers_of(from);
  insist(both.size() == 2 && both[0] <= both[1], "a range has no two ends");
  return {both[0], both[1]};
}

Result<Teller> teller_of(const json& from, size_t all_tasks) {
  Teller teller;
  ASSAY_TRY(teller.recipe, make_recipe(from.at("features").get<std::vector<std::string>>(),
                                       from.at("costs").get<std::vector<std::string>>()));
  teller.tasks = from.at("tasks").get<std::vector<size_t>>();
  for (const size_t task : teller.tasks) insist(task < all_tasks, "there is no such task");
  const json& idle = from.at("idle");
  teller.idle = idle_of(idle, teller.recipe, teller.tasks.size());
  const size_t features = teller.recipe.features.size();
  ASSAY_CHECK(read_trees(idle, teller.tasks.size(), features, teller.idle));
  for (const auto& range : from.at("feature_ranges")) teller.features.push_back(range_of(range));
  insist(teller.features.size() == features, "a feature has no range");
  for (size_t i = 0; i < column_count(); ++i)
    teller.columns.push_back(range_of(from.at("ranges").at(std::string(column_name(i)))));
  teller.widths = numbers_of(from.at("widths"));
  teller.widening = from.at("widening").get<double>();
  insist(teller.widths.size() == teller.tasks.size(), "a task has no interval");
  for (const double width : teller.widths) insist(width >= 0, "an interval is none");
  insist(teller.widening >= 0, "an interval is none");
  return teller;
}

/// From at least as many numbers as a workload has.
model::Workload workload_of(const std::vector<double>& numbers) {
  model::Workload workload;
  for (size_t i = 0; i < model::kWorkloadColumns.size(); ++i)
    workload.*(model::kWorkloadColumns.at(i).value) = numbers[i];
  return workload;
}
Task task_of(const json& from) {
  return {from.at("device").get<std::string>(), from.at("engine").get<std::string>(),
          from.at("precision").get<std::string>()};
}
Unmeasured unmeasured_of(const json& from, size_t tasks) {
  Unmeasured one;
  one.task = from.at("task").get<size_t>();
  one.width = from.at("width").get<double>();
  insist(one.task < tasks, "there is no such task");
  insist(one.width >= 0, "an interval is none");
  for (const auto& other : from.at("kin")) {
    one.kin.push_back({other.at("task").get<size_t>(), other.at("usual").get<double>()});
    insist(one.kin.back().task < tasks, "there is no such task");
  }
  return one;
}

std::vector<Refusal> refused_of(const json& header) {
  std::vector<Refusal> refused;
  for (const auto& one : header.value("refused", json::array())) {
    refused.push_back({one.at("model").get<std::string>(), task_of(one.at("task")),
                       one.at("error").get<std::string>(), numbers_of(one.at("numbers"))});
    insist(refused.back().numbers.size() == column_count(), "a model has too few numbers");
  }
  return refused;
}

Result<std::vector<Device>> devices_of(const json& header, const std::string& name) {
  insist(header.at("schema").get<int>() == kSchema, "it is of another version of assay");
  std::vector<Device> devices;
  for (const auto& one : header.at("devices")) {
    ASSAY_TRY(auto device, read_device(one, name));
    devices.push_back(std::move(device));
  }
  return devices;
}

Result<Trained> trained_of(const json& document, const std::string& name) {
  const json& header = document.at("assay");
  Trained trained;
  ASSAY_TRY(trained.devices, devices_of(header, name));
  for (const auto& one : header.at("tasks")) {
    trained.tasks.push_back(task_of(one));
    trained.tasks.back().threads = one.at("threads").get<double>();
    const size_t device = find_device(trained.devices, trained.tasks.back().device);
    insist(device < trained.devices.size(), "a task has no device");
    const double watts = one.value("watts", 0.0);
    insist(watts >= 0 && std::isfinite(watts), "a power is none");
    const double least_load = one.value("least_load", 0.0);
    insist(least_load >= 0 && least_load <= 1, "a load is none");
    trained.facts.push_back({trained.tasks.back().threads, device,
                             place_of(trained.devices[device]), watts, least_load});
  }
  auto factors = numbers_of(header.at("slowdown_factors"));
  insist(factors.size() == trained.tasks.size(), "a task has no factor");
  for (const double factor : factors)
    insist(factor >= 0 && factor <= kMostFactor, "a factor is none");
  ASSAY_TRY(trained.slowdown, read_slowdown(document, std::move(factors)));
  if (header.contains("by_workload")) {
    ASSAY_TRY(trained.by_workload, teller_of(header.at("by_workload"), trained.tasks.size()));
  }
  ASSAY_TRY(trained.by_counts, teller_of(header.at("by_counts"), trained.tasks.size()));
  trained.unmeasured_width = header.at("unmeasured_width").get<double>();
  insist(trained.unmeasured_width >= 0, "an interval is none");
  for (const auto& one : header.at("usual_workloads")) {
    const auto numbers = numbers_of(one);
    insist(numbers.size() == model::kWorkloadColumns.size(), "a workload has too few numbers");
    trained.usual.push_back(workload_of(numbers));
  }
  for (const auto& one : header.at("unmeasured"))
    trained.unmeasured.push_back(unmeasured_of(one, trained.tasks.size()));
  trained.refused = refused_of(header);
  insist(trained.unmeasured.size() <= trained.tasks.size(), "tasks are in disorder");
  const size_t measured = trained.tasks.size() - trained.unmeasured.size();
  for (size_t i = 0; i < trained.unmeasured.size(); ++i) {
    const auto& [task, kin, width] = trained.unmeasured[i];
    insist(task == measured + i, "tasks are in disorder");
    for (const auto& other : kin) insist(other.task < measured, "tasks are in disorder");
  }
  return trained;
}

void read_model(const json& from, Runs& runs) {
  RunModel model{from.at("name").get<std::string>(), from.at("family").get<std::string>(), {}, {}};
  const auto numbers = numbers_of(from.at("numbers"));
  insist(numbers.size() == column_count(), "a model has too few numbers");
  if (from.at("has_workload").get<bool>()) {
    model.workload = workload_of(numbers);
  }
  model.counts = counts_of(std::span(numbers).subspan(model::kWorkloadColumns.size()));
  runs.models.push_back(std::move(model));
}

Result<Origin> origin_of(const json& document, const std::string& name) {
  const json& header = document.at("assay");
  ASSAY_TRY(auto devices, devices_of(header, name));
  Origin origin{{std::move(devices), {}, {}, {}, refused_of(header)}, {}};
  origin.validation = header.at("validation");
  const json& kept = header.at("runs");
  for (const auto& one : kept.at("tasks")) {
    origin.runs.tasks.push_back(task_of(one));
    insist(find_device(origin.runs.devices, origin.runs.tasks.back().device) <
               origin.runs.devices.size(),
           "a task has no device");
  }
  for (const auto& one : kept.at("models")) read_model(one, origin.runs);
  const auto models = kept.at("model").get<std::vector<size_t>>();
  const auto tasks = kept.at("task").get<std::vector<size_t>>();
  const auto loads = numbers_of(kept.at("load"));
  const auto threads = numbers_of(kept.at("threads"));
  const auto seconds = numbers_of(kept.at("seconds"));
  const auto outliers = kept.at("outlier").get<std::vector<int>>();
  auto joules = kept.contains("joules") ? numbers_of(kept.at("joules")) : std::vector<double>();
  joules.resize(models.size());
  const size_t count = models.size();
  insist(tasks.size() == count && loads.size() == count && threads.size() == count &&
             seconds.size() == count && outliers.size() == count,
         "runs are not whole");
  for (size_t i = 0; i < count; ++i) {
    insist(models[i] < origin.runs.models.size() && tasks[i] < origin.runs.tasks.size() &&
               loads[i] >= 0 && loads[i] <= 1 && threads[i] >= 0 && seconds[i] > 0,
           "a run makes no sense");
    origin.runs.runs.push_back(
        {models[i], tasks[i], loads[i], threads[i], seconds[i], outliers[i] != 0, joules[i]});
  }
  if (!kept.contains("profiles")) return origin;
  for (const auto& one : kept.at("profiles")) {
    ModelProfile profile{one.at("model").get<size_t>(),
                         one.at("task").get<size_t>(),
                         one.at("threads").get<double>(),
                         {}};
    insist(profile.model < origin.runs.models.size() && profile.task < origin.runs.tasks.size() &&
               profile.threads >= 0,
           "a profile makes no sense");
    ASSAY_TRY(profile.profile, parse_profile(one.at("pieces").get<std::string>()));
    origin.runs.profiles.push_back(std::move(profile));
  }
  return origin;
}

/// Tells what is wrong with a file in one sentence, however it is wrong.
template <typename Value>
Result<Value> guarded(const std::string& name, std::string_view text,
                      Result<Value> (*read)(const json&, const std::string&)) {
  const auto wrong = [&](std::string_view why) {
    return bad_input(fmt::format("{} is no model file of assay train: {}", name, why));
  };
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) return wrong("it is not in JSON");
  if (!document.is_object() || !document.contains("assay"))
    return wrong("it has no part \"assay\"");
  try {
    auto value = read(document, name);
    if (!value) return wrong(value.error().message);
    return value;
  } catch (const json::exception& error) {
    const std::string_view words = error.what();
    const size_t end = words.find("] ");  // behind the library's own name of the error
    return wrong(end == std::string_view::npos ? words : words.substr(end + 2));
  } catch (const std::invalid_argument& error) {
    return wrong(error.what());
  }
}

}  // namespace

std::string model_file_text(const Trained& trained, const std::string& booster, const Runs& runs,
                            const json& validation) {
  json document = json::parse(booster);
  json header = {{"schema", kSchema},
                 {"slowdown_factors", trained.slowdown.factors},
                 {"by_counts", json_of(trained.by_counts)},
                 {"validation", validation},
                 {"runs", json_of(runs)}};
  if (trained.by_workload) header["by_workload"] = json_of(*trained.by_workload);
  header["devices"] = json::array();
  for (const auto& device : trained.devices) header["devices"].push_back(device_document(device));
  header["tasks"] = json::array();
  for (size_t i = 0; i < trained.tasks.size(); ++i) {
    header["tasks"].push_back(json_of(trained.tasks[i]));
    header["tasks"].back()["threads"] = trained.facts[i].threads;
    if (trained.facts[i].watts > 0) header["tasks"].back()["watts"] = trained.facts[i].watts;
    if (const double load = trained.facts[i].least_load; load > 0)
      header["tasks"].back()["least_load"] = load;
  }
  header["unmeasured_width"] = trained.unmeasured_width;
  header["usual_workloads"] = json::array();
  for (const auto& workload : trained.usual)
    header["usual_workloads"].push_back(workload_values(workload));
  header["unmeasured"] = json::array();
  for (const auto& one : trained.unmeasured) header["unmeasured"].push_back(json_of(one));
  header["refused"] = json::array();
  for (const auto& one : trained.refused)
    header["refused"].push_back({{"model", one.model},
                                 {"task", json_of(one.task)},
                                 {"error", one.error},
                                 {"numbers", one.numbers}});
  document["assay"] = std::move(header);
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Trained> read_model_file(const std::string& name, std::string_view text) {
  return guarded<Trained>(name, text, trained_of);
}

Result<Origin> read_origin(const std::string& name, std::string_view text) {
  return guarded<Origin>(name, text, origin_of);
}

}  // namespace assay::predict
