// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/cluster/trial_report.h>

namespace assay::cluster {
namespace {

using Json = nlohmann::json;
using Want = Question::Want;

constexpr std::array kEnds = {"measured", "no room", "failed", "lost", "no room then"};

Json json_of(const Choice& choice) {
  return {{"kind", choice.kind}, {"count", choice.count}};
}
Json json_of(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}
Json json_of(const std::vector<Choice>& choices, const std::optional<size_t>& one) {
  return one ? json_of(choices[*one]) : Json();
}

Json json_of(const TrialResult& trial) {
  Json json = json_of(trial.choice);
  json["end"] = kEnds[static_cast<size_t>(trial.end)];
  json["object"] = trial.object;
  json["pods"] = trial.pods;
  json["nodes"] = trial.nodes;
  if (!trial.session.empty()) json["session"] = trial.session;
  if (trial.end != TrialEnd::measured) {
    json["reason"] = trial.reason;
    return json;
  }
  json["begin"] = format_utc(trial.begin);
  json["seconds"] = seconds(trial.end_time - trial.begin);
  json["throughput"] = trial.throughput.value;
  json["throughput_error"] = trial.throughput.sd > 0 ? Json(trial.throughput.sd) : Json();
  json["source"] = trial.source;
  json["utilization_ratio"] = json_of(trial.utilization);
  json["memory_bytes"] = json_of(trial.memory_bytes);
  json["power_watts"] = json_of(trial.watts);
  json["unit_joules"] = json_of(trial.unit_joules);
  json["unit_cost"] = json_of(trial.unit_cost);
  return json;
}

Json json_of(const Question& question) {
  return {{"want", question.want == Want::fastest ? "fastest" : "cheapest"},
          {"prices", question.prices},
          {"work", question.work},
          {"budget", question.budget},
          {"deadline_seconds", question.deadline}};
}

Json json_of(const Estimate& estimate) {
  return {{"value", estimate.value}, {"sd", estimate.sd}};
}

Json choices_json(const TrialReport& report, const Plan& plan) {
  Json all = Json::array();
  for (size_t i = 0; i < report.choices.size(); ++i) {
    const Standing& standing = plan.standings[i];
    Json one = json_of(report.choices[i]);
    one["tried"] = standing.measured.has_value();
    one["works"] = standing.works;
    one["within"] = standing.within;
    one["best"] = standing.best;
    one["throughput"] = standing.throughput().value;
    one["throughput_error"] = standing.throughput().sd;
    one["expected"] = json_of(standing.expected);
    one["seconds"] = json_of(standing.seconds);
    one["cost"] = json_of(standing.cost);
    one["unit_cost"] = json_of(standing.unit_cost);
    if (standing.doubt != Doubt::none)
      one["doubt"] = standing.doubt == Doubt::no_room ? "no_room" : "fewest";
    for (const auto& ruled : report.ruled)
      if (ruled.choice == i) one["no_room"] = ruled.reason;
    all.push_back(std::move(one));
  }
  return all;
}

Json laws_json(const std::vector<Law>& laws) {
  Json all = Json::array();
  for (const auto& law : laws)
    all.push_back({{"kind", law.kind},
                   {"trials", law.trials},
                   {"likely", law.likely},
                   {"part", law.part},
                   {"one", json_of(law.one)},
                   {"serial", json_of(law.serial)},
                   {"crosstalk", json_of(law.crosstalk)}});
  return all;
}

Json answer_json(const TrialReport& report, const Plan& plan) {
  if (!plan.answer) return nullptr;
  const Standing& standing = plan.standings[*plan.answer];
  Json answer = json_of(report.choices[*plan.answer]);
  answer["clear"] = plan.clear;
  answer["chance"] = standing.best;
  answer["tried"] = standing.measured.has_value();
  answer["throughput"] = standing.throughput().value;
  answer["throughput_error"] = standing.throughput().sd;
  answer["unit_cost"] = json_of(standing.unit_cost);
  return answer;
}

std::optional<double> number_at(const Json& json, const char* key) {
  const Json value = json.value(key, Json());
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

Choice read_choice(const Json& json) {
  return {json.at("kind").get<std::string>(), json.at("count").get<double>()};
}

TrialResult read_trial(const Json& json) {
  TrialResult trial{.choice = read_choice(json)};
  const std::string end = json.at("end").get<std::string>();
  trial.end = TrialEnd::failed;
  for (size_t i = 0; i < kEnds.size(); ++i)
    if (end == kEnds[i]) trial.end = static_cast<TrialEnd>(i);
  trial.object = json.at("object").get<std::string>();
  trial.pods = json.at("pods").get<std::vector<std::string>>();
  trial.nodes = json.at("nodes").get<std::vector<std::string>>();
  trial.session = json.value("session", "");
  trial.reason = json.value("reason", "");
  if (trial.end != TrialEnd::measured) return trial;
  trial.begin = parse_utc(json.at("begin").get<std::string>()).value_or(Timestamp());
  trial.end_time = trial.begin + from_seconds(json.at("seconds").get<double>());
  trial.throughput = {json.at("throughput").get<double>(),
                      number_at(json, "throughput_error").value_or(0)};
  trial.source = json.at("source").get<std::string>();
  trial.utilization = number_at(json, "utilization_ratio");
  trial.memory_bytes = number_at(json, "memory_bytes");
  trial.watts = number_at(json, "power_watts");
  trial.unit_joules = number_at(json, "unit_joules");
  trial.unit_cost = number_at(json, "unit_cost");
  return trial;
}

Question read_question(const Json& json) {
  Question question;
  question.want = json.at("want") == "cheapest" ? Want::cheapest : Want::fastest;
  question.prices = json.at("prices").get<Prices>();
  question.work = json.at("work").get<double>();
  question.budget = json.at("budget").get<double>();
  question.deadline = json.at("deadline_seconds").get<double>();
  return question;
}

TrialReport read(const Json& json) {
  const Json& object = json.at("object");
  TrialReport report{.trial = json.at("trial").get<std::string>(),
                     .kind = object.at("kind").get<std::string>(),
                     .api_version = object.at("api_version").get<std::string>(),
                     .name_space = object.at("namespace").get<std::string>(),
                     .name = object.at("name").get<std::string>(),
                     .resource = json.at("resource").get<std::string>(),
                     .unit = json.at("unit").get<std::string>(),
                     .begun = parse_utc(json.at("begun").get<std::string>()).value_or(Timestamp()),
                     .ended = parse_utc(json.at("ended").get<std::string>()).value_or(Timestamp()),
                     .interrupted = json.at("interrupted").get<bool>(),
                     .question = read_question(json.at("question"))};
  const Json limits = json.value("limits", Json::object());
  report.limits.sure = limits.value("sure", report.limits.sure);
  report.limits.every = limits.value("every", report.limits.every);
  for (const auto& one : json.at("choices")) {
    if (one.contains("no_room"))
      report.ruled.push_back({report.choices.size(), one["no_room"].get<std::string>()});
    report.choices.push_back(read_choice(one));
  }
  // Versions before took prices of kinds that were no choice.
  std::erase_if(report.question.prices, [&](const auto& price) {
    return !price.first.empty() &&
           std::none_of(report.choices.begin(), report.choices.end(),
                        [&](const Choice& choice) { return choice.kind == price.first; });
  });
  for (const auto& one : json.at("trials")) report.trials.push_back(read_trial(one));
  return report;
}

/// What a hand or another version may have written, and no law can be learned from.
bool is_sound(const TrialReport& report) {
  for (const auto& choice : report.choices)
    if (!(choice.count > 0) || !(choice.count < 1e6)) return false;
  for (const auto& trial : report.trials)
    if (trial.end == TrialEnd::measured && !(trial.throughput.value > 0)) return false;
  return !report.choices.empty() && report.choices.size() <= 1000;
}

}  // namespace

std::string report_json(const TrialReport& report) {
  const Judgement judgement = judge(report);
  Json trials = Json::array();
  for (const auto& trial : report.trials) trials.push_back(json_of(trial));
  const Json document = {{"schema", 1},
                         {"trial", report.trial},
                         {"object",
                          {{"kind", report.kind},
                           {"api_version", report.api_version},
                           {"namespace", report.name_space},
                           {"name", report.name}}},
                         {"resource", report.resource},
                         {"unit", report.unit},
                         {"begun", format_utc(report.begun)},
                         {"ended", format_utc(report.ended)},
                         {"interrupted", report.interrupted},
                         {"question", json_of(report.question)},
                         {"limits", {{"sure", report.limits.sure}, {"every", report.limits.every}}},
                         {"choices", choices_json(report, judgement.plan)},
                         {"trials", std::move(trials)},
                         {"laws", laws_json(judgement.laws)},
                         {"answer", answer_json(report, judgement.plan)},
                         {"fastest", json_of(report.choices, judgement.plan.fastest)},
                         {"cheapest", json_of(report.choices, judgement.plan.cheapest)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

Result<TrialReport> read_report(std::string_view json) {
  try {
    TrialReport report = read(Json::parse(json));
    if (is_sound(report)) return report;
  } catch (const Json::exception&) {  // said below
  }
  return bad_input("this is no document of trials");
}

std::string report_annotation(const TrialReport& report) {
  const Plan plan = judge(report).plan;
  const Json document = {{"ended", format_utc(report.ended)},
                         {"resource", report.resource},
                         {"trials", report.trials.size()},
                         {"want", report.question.want == Want::fastest ? "fastest" : "cheapest"},
                         {"answer", answer_json(report, plan)},
                         {"fastest", json_of(report.choices, plan.fastest)},
                         {"cheapest", json_of(report.choices, plan.cheapest)}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace assay::cluster
