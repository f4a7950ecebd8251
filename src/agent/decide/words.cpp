// SPDX-License-Identifier: Apache-2.0
#include "decide/words.h"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>

namespace assay::agent {
namespace {

using Json = nlohmann::ordered_json;

std::string number(double value) {
  return format_number(value);
}

std::string cores(double value) {
  return fmt::format("{:.2f} cores", value);
}

/// "fps >= 10 (6.2)" of the first goal that is missed, or of the first of all.
std::string goal_in_words(const Evidence& evidence) {
  const GoalState* told = nullptr;
  for (const auto& goal : evidence.goals) {
    if (told == nullptr || (told->met() != false && goal.met() == false)) told = &goal;
  }
  if (told == nullptr) return "its goals";
  return told->value ? fmt::format("{} (it is {})", told->goal.text, number(*told->value))
                     : told->goal.text;
}

std::string cpu_shortage(const Decision& decision) {
  const Evidence& evidence = decision.evidence;
  if (decision.main.finding().own_limit)
    return fmt::format("its limit of {} held it back in {:.0f} % of the time; raise the limit",
                       cores(evidence.cores_limit.value_or(0)), evidence.throttled_share * 100);
  if (std::isfinite(evidence.cpu_wait_share))
    return fmt::format("it waited for a core in {:.0f} % of the time; limit others, or move one",
                       evidence.cpu_wait_share * 100);
  return fmt::format("it got {} and the machine has no idle core; limit others, or move one",
                     cores(evidence.cores));
}

std::string shortage_in_words(const Decision& decision) {
  const Evidence& evidence = decision.evidence;
  switch (decision.main.finding().resource) {
    case Resource::cpu:
      return "CPU: " + cpu_shortage(decision);
    case Resource::memory:
      return fmt::format(
          "memory: it uses {}{}; raise the limit", format_bytes(evidence.memory),
          evidence.memory_limit ? " of " + format_bytes(*evidence.memory_limit) : "");
    default:
      return fmt::format("disk: it waited for it in {:.0f} % of the time",
                         evidence.disk_wait_share * 100);
  }
}

std::string spare_in_words(const Evidence& evidence) {
  const Spare spare = spare_of(evidence);
  std::vector<std::string> parts;
  if (spare.cores >= 0.01) parts.push_back(cores(spare.cores));
  if (spare.memory_bytes >= 1e6) parts.push_back(format_bytes(spare.memory_bytes) + " of memory");
  return fmt::format("{}", fmt::join(parts, " and "));
}

std::string silence_in_words(const Evidence& evidence) {
  if (!evidence.silent)
    return fmt::format("has goals and has never reported, for {}; is its socket mounted?",
                       format_duration(evidence.running));
  return fmt::format("has reported nothing for {}; look at its log, or restart it",
                     format_duration(*evidence.silent));
}

void add_share(std::vector<std::string>& out, const char* what, double share) {
  if (std::isfinite(share))
    out.push_back(fmt::format("{} {:.0f} % of the time", what, share * 100));
}

Json advice_json(const Held& held, const std::string& sentence, Timestamp now) {
  const Finding& finding = held.finding();
  Json json = {{"kind", to_string(finding.verdict)}};
  if (finding.resource != Resource::none) json["resource"] = to_string(finding.resource);
  json["sentence"] = sentence;
  json["for_seconds"] = seconds(now - held.since());
  return json;
}

Json goals_json(const Evidence& evidence) {
  Json goals = Json::array();
  for (const auto& state : evidence.goals) {
    Json goal = {{"goal", state.goal.text}, {"bound", state.goal.bound}};
    if (state.value) goal["value"] = *state.value;
    if (const auto met = state.met()) goal["met"] = *met;
    goals.push_back(std::move(goal));
  }
  return goals;
}

Json main_advice(const Decision& decision, Timestamp now) {
  Json advice = advice_json(decision.main, sentence_of(decision), now);
  advice["evidence"] = evidence_of(decision);
  const Spare spare = spare_of(decision.evidence);
  if (decision.main.finding().verdict == Verdict::idle_rich)
    advice["take_back"] = {{"cores", spare.cores}, {"memory_bytes", spare.memory_bytes}};
  return advice;
}

}  // namespace

std::string sentence_of(const Decision& decision) {
  const Evidence& evidence = decision.evidence;
  switch (decision.main.finding().verdict) {
    case Verdict::meets:
      return "reaches its goals";
    case Verdict::starved:
      return fmt::format("misses {} for lack of {}", goal_in_words(evidence),
                         shortage_in_words(decision));
    case Verdict::misses:
      return fmt::format("misses {}, and nothing that it lacks was found; look at the app itself",
                         goal_in_words(evidence));
    case Verdict::idle_rich:
      return fmt::format("reaches {} with far more than it needs; {} could be taken back",
                         goal_in_words(evidence), spare_in_words(evidence));
    case Verdict::stuck:
      return silence_in_words(evidence);
    default:
      return {};
  }
}

std::string leak_sentence(const Evidence& evidence) {
  if (!evidence.leak) return {};
  std::string text = fmt::format("its memory only grows, by {} a minute, and is at {} now",
                                 format_bytes(evidence.leak->bytes_per_second * 60),
                                 format_bytes(evidence.memory));
  if (evidence.leak->full_in)
    text +=
        fmt::format("; its limit is reached in about {}", format_duration(*evidence.leak->full_in));
  return text;
}

std::vector<std::string> evidence_of(const Decision& decision) {
  const Evidence& evidence = decision.evidence;
  std::vector<std::string> out;
  for (const auto& state : evidence.goals)
    out.push_back(state.value ? fmt::format("{}: it is {}", state.goal.text, number(*state.value))
                              : fmt::format("{}: not known", state.goal.text));
  if (std::isfinite(evidence.cores))
    out.push_back(fmt::format("uses {}{}", cores(evidence.cores),
                              evidence.cores_limit ? " of " + cores(*evidence.cores_limit) : ""));
  add_share(out, "held back by its CPU limit", evidence.throttled_share);
  add_share(out, "waited for a core", evidence.cpu_wait_share);
  add_share(out, "waited for memory", evidence.memory_wait_share);
  add_share(out, "waited for a disk", evidence.disk_wait_share);
  if (std::isfinite(evidence.memory) && evidence.memory_limit)
    out.push_back(fmt::format("uses {} of {} of memory", format_bytes(evidence.memory),
                              format_bytes(*evidence.memory_limit)));
  if (std::isfinite(evidence.node_idle_cores))
    out.push_back(fmt::format("{} of the machine's {} are idle", cores(evidence.node_idle_cores),
                              number(evidence.node_cores)));
  return out;
}

void add_decision(Json& app, const Decision& decision, Timestamp now) {
  const Evidence& evidence = decision.evidence;
  if (!evidence.goals.empty()) {
    app["goals"] = goals_json(evidence);
    app["verdict"] = to_string(decision.main.finding().verdict);
  }
  Json advice = Json::array();
  if (decision.main.finding().verdict != Verdict::unknown)
    advice.push_back(main_advice(decision, now));
  if (evidence.leak && decision.leak.finding().verdict == Verdict::leaking)
    advice.push_back(advice_json(decision.leak, leak_sentence(evidence), now));
  if (!advice.empty()) app["advice"] = std::move(advice);
}

}  // namespace assay::agent
