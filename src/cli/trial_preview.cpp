// SPDX-License-Identifier: Apache-2.0
#include "trial_preview.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/time.h>
#include <assay/net/http_client.h>
#include <assay/session/spec.h>

namespace assay::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Repeats and lost ones count.
size_t most_trials(const cluster::TrialReport& report) {
  const size_t all = report.choices.size();
  if (report.limits.every) return all;
  return report.limits.most_trials > 0 ? report.limits.most_trials : cluster::half_of(all);
}

Nanoseconds longest_trial(const cluster::TrialSettings& settings) {
  return settings.patience + settings.warm_up + settings.time;
}

/// Of many long ones the sum is beyond what can be counted.
std::string longest_of_all(const cluster::TrialSettings& settings, size_t most) {
  const double all = seconds(longest_trial(settings)) * static_cast<double>(most);
  if (all > 1e9) return "more than 30 years";
  return format_duration(
      std::chrono::duration_cast<Nanoseconds>(std::chrono::duration<double>(all)));
}

/// Variables, arguments and texts, as in the plan of a run: a preview ends up in logs.
void mask(Json& part) {
  const auto is_text = [](const Json& one) { return one.is_string(); };
  if (part.is_string()) {
    part = session::masked_text(part.get<std::string>());
  } else if (part.is_array() && std::all_of(part.begin(), part.end(), is_text)) {
    Target target;
    target.command = part.get<std::vector<std::string>>();
    part = session::masked(target).command;
  } else if (part.is_object() && is_text(part.value("name", Json())) &&
             is_text(part.value("value", Json()))) {
    Target target;
    target.env[part["name"].get<std::string>()] = part["value"].get<std::string>();
    part["value"] = session::masked(target).env.begin()->second;
  } else if (part.is_structured()) {
    for (auto& one : part) mask(one);
  }
}

/// By whom the throughput is told, and how.
std::string throughput_of(const PlannedTrials& planned) {
  const cluster::Measure& measure = planned.settings.measure;
  const std::string from =
      planned.prometheus.empty() ? "the agents" : net::shown_url(planned.prometheus);
  if (!measure.metric.empty()) return fmt::format("{} of {}", measure.metric, from);
  if (measure.log_pattern.empty())
    return fmt::format("how busy its GPUs are (DCGM_FI_DEV_GPU_UTIL) of {}", from);
  return fmt::format("{} in its log by '{}'", measure.log_counts ? "a count" : "a rate",
                     measure.log_pattern);
}

/// "cheapest, 1000000 units within 8 h, an hour of A100 costs 2.9".
std::string wanted_text(const cluster::Question& question) {
  std::string text = question.want == cluster::Question::Want::cheapest ? "cheapest" : "fastest";
  if (question.work > 0) text += fmt::format(", {:.15g} units", question.work);
  if (question.deadline > 0) text += " within " + format_duration(from_seconds(question.deadline));
  if (question.budget > 0) text += fmt::format(" for {:.15g} at most", question.budget);
  for (const auto& [kind, price] : question.prices)
    text += fmt::format(", an hour of {} costs {:.15g}", kind.empty() ? "one" : kind, price);
  return text;
}

Json wanted_json(const cluster::Question& question) {
  Json json = {
      {"want", question.want == cluster::Question::Want::cheapest ? "cheapest" : "fastest"}};
  if (question.work > 0) json["work"] = question.work;
  if (question.deadline > 0) json["deadline_seconds"] = question.deadline;
  if (question.budget > 0) json["budget"] = question.budget;
  if (!question.prices.empty()) json["prices"] = question.prices;
  return json;
}

/// "nvidia.com/gpu: 2 in each of 4 pods on nodes with nvidia.com/gpu.product=T4".
std::string place_of(const cluster::Choice& choice, const cluster::CopySettings& settings,
                     const cluster::TrialCopy& copy) {
  std::string text = fmt::format("{}: {}", settings.resource, cluster::quantity_of(copy.each));
  if (copy.workers > 1) text += fmt::format(" in each of {} pods", copy.workers);
  if (choice.kind.empty()) return text + " on any node";
  return fmt::format("{} on nodes with {}={}", text, settings.node_label, choice.kind);
}

/// A preview ends up in logs: no secrets.
Json masked_manifest(const cluster::TrialCopy& copy) {
  Json manifest = Json::parse(copy.manifest, nullptr, false);
  mask(manifest);
  return manifest;
}

std::string text_of(const PlannedTrials& planned, size_t first,
                    const std::vector<cluster::TrialCopy>& copies) {
  const auto& [source, report, settings, prometheus] = planned;
  const size_t most = most_trials(report);
  std::string text = fmt::format(
      "{} {}: at most {} trial{} of {} choice{}, {}\n\n", report.kind, report.name, most,
      most == 1 ? "" : "s", report.choices.size(), report.choices.size() == 1 ? "" : "s",
      settings.at_once == 1 ? "one at a time" : fmt::format("up to {} at once", settings.at_once));
  for (size_t i = 0; i < report.choices.size(); ++i)
    text += fmt::format(
        "  {:<16}  {}{}\n", cluster::name_of(report.choices[i], settings.copy.resource),
        place_of(report.choices[i], settings.copy, copies[i]), i == first ? "  (first)" : "");
  text += fmt::format("\nnamespace   {}\n", settings.copy.name_space);
  text += fmt::format("throughput  {}\n", throughput_of(planned));
  text += fmt::format("wanted      {}\n", wanted_text(report.question));
  text += fmt::format("each        at most {} to start, {} of warm-up, {} measured\n",
                      format_duration(settings.patience), format_duration(settings.warm_up),
                      format_duration(settings.time));
  text += fmt::format("in all      at most {}, and what removing takes\n",
                      longest_of_all(settings, most));
  text += fmt::format("order       {}\n",
                      report.limits.every ? "each once, the most telling first"
                                          : "what is tried next depends on what was measured; it "
                                            "ends when the answer is clear");
  if (const std::string fixed = cluster::fixed_processes(source); !fixed.empty())
    text += "note        " + fixed_processes_text(fixed) + "\n";
  text +=
      "\nno cluster was asked: choices that no node can hold are left out, and the priority class\n"
      "assay-trial is added where it is there. The first copy:\n\n";
  return text + masked_manifest(copies[first]).dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::string json_of(const PlannedTrials& planned, size_t first,
                    const std::vector<cluster::TrialCopy>& copies) {
  const auto& [source, report, settings, prometheus] = planned;
  Json choices = Json::array();
  for (size_t i = 0; i < report.choices.size(); ++i)
    choices.push_back({{"kind", report.choices[i].kind},
                       {"count", report.choices[i].count},
                       {"workers", static_cast<int64_t>(copies[i].workers)},
                       {"pods", static_cast<int64_t>(copies[i].pods)}});
  const size_t most = most_trials(report);
  Json document = {
      {"schema", 1},
      {"trial", report.trial},
      {"namespace", settings.copy.name_space},
      {"choices", choices},
      {"first", first},
      {"most_trials", most},
      {"at_once", settings.at_once},
      {"longest_seconds", seconds(longest_trial(settings)) * static_cast<double>(most)},
      {"throughput", throughput_of(planned)},
      {"wanted", wanted_json(report.question)},
      {"copy", masked_manifest(copies[first])}};
  if (const std::string fixed = cluster::fixed_processes(source); !fixed.empty())
    document["fixed_processes"] = fixed;
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string fixed_processes_text(const std::string& words) {
  return fmt::format(
      "its command says '{}', and each choice runs with that, however many GPUs (or cores) it has. "
      "Instead of the number, write $(ASSAY_TRIAL_GPUS), how many the choice has in all, or "
      "$(ASSAY_TRIAL_WORKERS), among how many pods they are divided",
      words);
}

Result<std::string> trial_preview(const PlannedTrials& planned, bool json) {
  const auto& report = planned.report;
  const auto plan = cluster::plan_trials(report.choices, {}, report.question, report.limits);
  const size_t first = plan.next.value_or(0);
  cluster::CopySettings settings = planned.settings.copy;
  settings.deadline = longest_trial(planned.settings) + planned.settings.patience;
  std::vector<cluster::TrialCopy> copies;
  for (const auto& choice : report.choices) {
    ASSAY_TRY(auto copy, cluster::make_trial_copy(planned.source, choice, settings, 1));
    copies.push_back(std::move(copy));
  }
  return json ? json_of(planned, first, copies) : text_of(planned, first, copies);
}

}  // namespace assay::cli
