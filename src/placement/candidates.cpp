// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <string_view>
#include <unordered_map>

#include <assay/base/wording.h>
#include <assay/placement/candidates.h>

namespace assay::placement {
namespace {

using predict::Device;
using predict::Estimate;
using predict::Predictor;

/// What an engine itself takes, beside weights and what flows between operators.
constexpr double kEngineBytes = 64e6;

std::vector<Estimate> tell(const Predictor& predictor, const Question& question,
                           const std::vector<double>& loads) {
  return std::visit([&](const auto& model) { return predictor.tell(model, loads); },
                    question.model);
}

std::optional<double> memory_needed(const Question& question) {
  const auto* model = std::get_if<model::Characteristics>(&question.model);
  if (model == nullptr) return std::nullopt;
  return kEngineBytes + model->workload.weight_bytes + model->workload.peak_activation_bytes;
}

double bytes_moved(const Question& question) {
  const auto* whole = std::get_if<model::Characteristics>(&question.model);
  const model::Counts& counts =
      whole != nullptr ? whole->counts : std::get<model::Counts>(question.model);
  return counts.model_input_size + counts.model_output_size;
}

std::optional<double> network_of(const Question& question, const Device& device) {
  if (question.network) return question.network;
  const auto found = device.figures.find("network_bytes_per_second");
  if (found == device.figures.end()) return std::nullopt;
  return found->second;
}

/// What is told of each node: now and if it were idle. Nothing for nodes whose device is not known.
struct Times {
  std::optional<Estimate> now = {};
  std::optional<Estimate> idle = {};
};

/// Of each device the fastest task.
using Best = std::unordered_map<std::string_view, const Estimate*>;
Best best_of(const Predictor& predictor, const std::vector<Estimate>& told) {
  Best best;
  for (const auto& one : told) {
    const Estimate*& found = best[predictor.tasks()[one.task].device];
    if (found == nullptr || one.seconds < found->seconds) found = &one;
  }
  return best;
}

std::optional<Estimate> at(const Best& best, const std::string& device) {
  const auto found = best.find(device);
  if (found == best.end()) return std::nullopt;
  return *found->second;
}

/// Nodes that are like one device are asked for one after the other, all others at once: each
/// round has at most one node of a device.
std::vector<Times> times_of(const Predictor& predictor, const Fleet& fleet,
                            const std::vector<std::optional<size_t>>& devices,
                            const Question& question) {
  std::vector<Times> times(fleet.nodes.size());
  const std::vector<double> no_load(predictor.tasks().size(), 0.0);
  const auto idle = tell(predictor, question, no_load);
  const Best idle_best = best_of(predictor, idle);
  std::vector<bool> done(fleet.nodes.size());
  for (bool more = true; more;) {
    more = false;
    std::map<std::string, size_t> round;  // a device's node
    for (size_t i = 0; i < fleet.nodes.size(); ++i) {
      if (done[i] || !devices[i]) continue;
      const bool taken = round.emplace(predictor.devices()[*devices[i]].name, i).second;
      done[i] = taken;
      more = more || !taken;
    }
    std::vector<double> loads = no_load;
    for (size_t task = 0; task < loads.size(); ++task) {
      const auto node = round.find(predictor.tasks()[task].device);
      if (node != round.end()) loads[task] = fleet.nodes[node->second].load;
    }
    const auto told = loads == no_load ? idle : tell(predictor, question, loads);
    const Best best = best_of(predictor, told);
    for (const auto& [device, node] : round)
      times[node] = {at(best, device), at(idle_best, device)};
  }
  return times;
}

Candidate candidate_of(const Predictor& predictor, const Question& question, const Node& node,
                       const Device& device, const Times& times) {
  const Estimate& now = *times.now;
  Candidate result{.node = node,
                   .engine = predictor.tasks()[now.task].engine,
                   .threads = predictor.tasks()[now.task].threads,
                   .seconds = now.seconds,
                   .low = now.low,
                   .high = now.high,
                   .idle_seconds = times.idle->seconds,
                   .doubt = now.doubt};
  if (const auto network = network_of(question, device))
    result.transfer_seconds = bytes_moved(question) / *network;
  add_doubt(result.doubt, node, device);
  result.memory_needed = memory_needed(question);
  // What others keep busy is not this model's to pay.
  if (node.watts) result.joules = *node.watts * times.idle->seconds;
  return result;
}

/// Why nothing is told of a node.
std::string why_not(const Predictor& predictor, const Node& node, std::optional<size_t> device) {
  const auto& tasks = predictor.tasks();
  if (device && std::any_of(tasks.begin(), tasks.end(), [&](const predict::Task& task) {
        return task.device == predictor.devices()[*device].name;
      }))
    return "nothing was measured there in the model's precision";
  return fmt::format(
      "nothing was learned of devices like it ({}{}); run 'assay collect' there and 'assay train "
      "--update'",
      node.model.empty() ? node.name : node.model,
      node.cores ? fmt::format(", {} cores", *node.cores) : "");
}

}  // namespace

Candidates candidates(const Predictor& predictor, const Fleet& fleet, const Question& question) {
  Candidates result{{}, fleet.left_out};
  const auto matched = match(fleet.nodes, predictor.devices());
  const auto times = times_of(predictor, fleet, matched, question);
  for (size_t i = 0; i < fleet.nodes.size(); ++i) {
    const Node& node = fleet.nodes[i];
    if (times[i].now && times[i].idle) {
      result.list.push_back(
          candidate_of(predictor, question, node, predictor.devices()[*matched[i]], times[i]));
      continue;
    }
    result.left_out.push_back({node.name, why_not(predictor, node, matched[i])});
  }
  return result;
}

}  // namespace assay::placement
