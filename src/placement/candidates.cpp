// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <utility>

#include <assay/base/wording.h>
#include <assay/placement/candidates.h>

namespace assay::placement {
namespace {

using predict::Device;
using predict::Estimate;
using predict::Predictor;

/// What an engine itself takes, beside weights and what flows between operators.
constexpr double kEngineBytes = 64e6;
/// While a model is loaded its weights are there several times: as they were read, as the engine
/// keeps them, and as its fastest kernels want them.
constexpr double kCopiesOfWeights = 2.6;

std::optional<double> memory_needed(const Question& question) {
  const auto* model = std::get_if<model::Characteristics>(&question.model);
  if (model == nullptr) return std::nullopt;
  return kEngineBytes + kCopiesOfWeights * model->workload.weight_bytes +
         model->workload.peak_activation_bytes;
}

double bytes_moved(const Question& question) {
  const auto* whole = std::get_if<model::Characteristics>(&question.model);
  const model::Counts& counts =
      whole != nullptr ? whole->counts : std::get<model::Counts>(question.model);
  return counts.model_input_size + counts.model_output_size;
}

std::optional<double> network_of(const Question& question, const Device& device) {
  static const std::string kFigure = "network_bytes_per_second";
  if (question.network) return question.network;
  const auto found = device.figures.find(kFigure);
  if (found == device.figures.end()) return std::nullopt;
  return found->second;
}

/// The fastest that is told of devices under loads. Nodes that are alike are asked for once, and
/// all at once.
class Fastest {
 public:
  void want(size_t device, double load) { wanted_.push_back({device, load}); }

  void ask(const Predictor& predictor, const Question& question) {
    std::sort(wanted_.begin(), wanted_.end());
    wanted_.erase(std::unique(wanted_.begin(), wanted_.end()), wanted_.end());
    std::vector<predict::Asked> asked;
    std::vector<size_t> owners;
    for (size_t i = 0; i < wanted_.size(); ++i) {
      for (const size_t task : predictor.tasks_of(wanted_[i].first)) {
        if (!question.engine.empty() && predictor.tasks()[task].engine != question.engine) continue;
        asked.push_back({task, wanted_[i].second});
        owners.push_back(i);
      }
    }
    told_ =
        std::visit([&](const auto& model) { return predictor.tell(model, asked); }, question.model);
    fastest_.assign(wanted_.size(), nullptr);
    for (const auto& one : told_) {
      const Estimate*& fastest = fastest_[owners[one.asked]];
      if (fastest == nullptr || one.seconds < fastest->seconds) fastest = &one;
    }
  }

  /// Null where nothing is told; only of what was wanted.
  const Estimate* of(size_t device, double load) const {
    const auto place = std::lower_bound(wanted_.begin(), wanted_.end(), std::pair(device, load));
    return fastest_[static_cast<size_t>(place - wanted_.begin())];
  }

 private:
  std::vector<std::pair<size_t, double>> wanted_;  ///< devices and loads
  std::vector<Estimate> told_;
  std::vector<const Estimate*> fastest_;  ///< for each that is wanted
};

Candidate candidate_of(const Predictor& predictor, const Question& question, const Node& node,
                       const Device& device, const Estimate& now, const Estimate& idle) {
  Candidate result{.node = node,
                   .engine = predictor.tasks()[now.task].engine,
                   .threads = predictor.tasks()[now.task].threads,
                   .seconds = now.seconds,
                   .low = now.low,
                   .high = now.high,
                   .idle_seconds = idle.seconds,
                   .doubt = now.doubt};
  if (const auto network = network_of(question, device))
    result.transfer_seconds = bytes_moved(question) / *network;
  add_doubt(result.doubt, node, device);
  result.memory_needed = memory_needed(question);
  // What others keep busy is not this model's to pay.
  if (idle.joules > 0)
    result.joules = idle.joules;
  else if (node.watts)
    result.joules = *node.watts * idle.seconds;
  return result;
}

/// Why nothing is told of a node.
std::string why_not(const Predictor& predictor, const Question& question, const Node& node,
                    std::optional<size_t> device) {
  const auto* model = std::get_if<model::Characteristics>(&question.model);
  for (const size_t task : device ? predictor.tasks_of(*device) : std::span<const size_t>()) {
    const auto& engine = predictor.tasks()[task].engine;
    if (model == nullptr || (!question.engine.empty() && engine != question.engine)) continue;
    if (const auto error = predictor.refusal(*model, task); !error.empty())
      return fmt::format("{} refused this model when it was measured: {}", engine,
                         in_quotes(error));
  }
  if (device && !predictor.tasks_of(*device).empty())
    return fmt::format("nothing was measured there in the model's precision{}{}",
                       question.engine.empty() ? "" : " with ", question.engine);
  return fmt::format(
      "nothing was learned of devices like it ({}{}); run 'assay collect' there and 'assay train "
      "--update'",
      node.model.empty() ? node.name : node.model,
      node.cores ? fmt::format(", {} cores", *node.cores) : "");
}

}  // namespace

Result<void> check_engine(const Predictor& predictor, const std::string& engine) {
  if (engine.empty()) return {};
  std::set<std::string_view> known;
  for (const auto& task : predictor.tasks()) known.insert(task.engine);
  if (known.contains(engine)) return {};
  return bad_input(fmt::format("nothing was learned of an engine {}; known: {}", in_quotes(engine),
                               fmt::join(known, ", ")));
}

Candidates candidates(const Predictor& predictor, const Fleet& fleet, const Question& question) {
  Candidates result{{}, fleet.left_out};
  result.list.reserve(fleet.nodes.size());
  const auto matched = match(fleet.nodes, predictor.devices());
  Fastest fastest;
  for (size_t i = 0; i < fleet.nodes.size(); ++i) {
    if (!matched[i]) continue;
    fastest.want(*matched[i], 0);
    fastest.want(*matched[i], fleet.nodes[i].load);
  }
  fastest.ask(predictor, question);
  for (size_t i = 0; i < fleet.nodes.size(); ++i) {
    const Node& node = fleet.nodes[i];
    const Estimate* now = matched[i] ? fastest.of(*matched[i], node.load) : nullptr;
    if (now == nullptr) {
      result.left_out.push_back({node.name, why_not(predictor, question, node, matched[i])});
      continue;
    }
    result.list.push_back(candidate_of(predictor, question, node, predictor.devices()[*matched[i]],
                                       *now, *fastest.of(*matched[i], 0)));
  }
  return result;
}

}  // namespace assay::placement
