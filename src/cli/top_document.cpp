// SPDX-License-Identifier: Apache-2.0
#include "top_document.h"

#include "top_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include <assay/samples/records.h>

namespace assay::cli {
namespace {

constexpr size_t kReportedSpan = 1;  ///< a minute
constexpr size_t kMaxEvent = 64U << 20U;

/// What is there and of the right kind.
const Json* member(const Json& json, std::string_view name) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(name);
  return found != json.end() ? &*found : nullptr;
}

std::optional<double> number(const Json& json, std::string_view name) {
  const Json* const found = member(json, name);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::optional<bool> truth(const Json& json, std::string_view name) {
  const Json* const found = member(json, name);
  if (found == nullptr || !found->is_boolean()) return std::nullopt;
  return found->get<bool>();
}

std::string raw_text(const Json& json, std::string_view name) {
  const Json* const found = member(json, name);
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

std::string text(const Json& json, std::string_view name) {
  return safe_text(raw_text(json, name));
}

TopSummary summary_of(const Json& json) {
  return {number(json, "mean"), number(json, "p95"), number(json, "max")};
}

TopValue value_of(const Json& json) {
  TopValue value;
  value.now = number(json, "now");
  if (!value.now) value.now = number(json, "value");
  value.unit = text(json, "unit");
  for (size_t i = 0; i < kTopSpans.size(); ++i) {
    const Json* const span = member(json, kTopSpans[i].key);
    if (span == nullptr) continue;
    value.spans[i] = summary_of(*span);
  }
  // What an app reports is summed up over one span only, beside its value.
  if (number(json, "mean")) value.spans[kReportedSpan] = summary_of(json);
  return value;
}

bool is_value(const Json& json) {
  return member(json, "now") != nullptr || member(json, "value") != nullptr ||
         member(json, kTopSpans.front().key) != nullptr;
}

std::vector<std::pair<std::string, TopValue>> values_of(const Json& json) {
  std::vector<std::pair<std::string, TopValue>> values;
  if (!json.is_object()) return values;
  for (const auto& [name, value] : json.items())
    if (is_value(value)) values.emplace_back(safe_text(name), value_of(value));
  return values;
}

void read_goals(const Json& json, TopApp& app) {
  const Json* const goals = member(json, "goals");
  if (goals == nullptr || !goals->is_array()) return;
  for (const auto& goal : *goals) app.goals.push_back({text(goal, "goal"), truth(goal, "met")});
}

void read_advice(const Json& json, TopApp& app) {
  const Json* const advice = member(json, "advice");
  if (advice == nullptr || !advice->is_array()) return;
  for (const auto& one : *advice)
    if (one.is_object()) app.advice.push_back({text(one, "kind"), text(one, "sentence")});
}

void read_facts(const Json& json, TopApp& app) {
  for (const char* const name : {"image", "namespace", "pod", "container", "container_id", "id"}) {
    std::string fact = text(json, name);
    if (!fact.empty()) app.facts.emplace_back(name, std::move(fact));
  }
  const Json* const labels = member(json, "labels");
  if (labels == nullptr || !labels->is_object()) return;
  for (const auto& [name, value] : labels->items())
    if (value.is_string())
      app.facts.emplace_back(safe_text(name), safe_text(value.get<std::string>()));
}

/// "pod/container" in a cluster, else what people call it.
std::string shown_name(const Json& json) {
  const std::string pod = text(json, "pod");
  const std::string container = text(json, "container");
  if (!pod.empty() && !container.empty()) return pod + "/" + container;
  return pod.empty() ? text(json, "name") : pod;
}

TopApp app_of(const Json& json) {
  TopApp app;
  app.id = raw_text(json, "id");
  app.name = shown_name(json);
  app.kind = text(json, "kind");
  app.running = truth(json, "running").value_or(true);
  app.lower_bound = truth(json, "lower_bound").value_or(false);
  app.seconds = number(json, "seconds");
  app.values = values_of(json);
  if (const Json* const reported = member(json, "reported"))
    for (auto& [name, value] : values_of(*reported)) app.reported.emplace(name, std::move(value));
  if (const Json* const limits = member(json, "limits")) {
    app.core_limit = number(*limits, "cores");
    app.memory_limit = number(*limits, "memory_bytes");
  }
  read_goals(json, app);
  read_advice(json, app);
  read_facts(json, app);
  return app;
}

void read_node(const Json& json, TopDocument& document) {
  document.node = text(json, "node");
  const Json* const node = member(json, "node");
  if (node == nullptr || !node->is_object()) return;
  document.node = text(*node, "name");
  document.cores = number(*node, "cores");
  document.memory_bytes = number(*node, "memory_bytes");
}

}  // namespace

std::optional<double> TopApp::now(const std::string& value) const {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const auto& one) { return one.first == value; });
  return running && found != values.end() ? found->second.now : std::nullopt;
}

std::optional<double> TopApp::now(const std::string& one, const std::string& other) const {
  const auto a = now(one);
  const auto b = now(other);
  if (!a && !b) return std::nullopt;
  return a.value_or(0) + b.value_or(0);
}

std::optional<TopDocument> read_top_document(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  const Json* const apps = member(json, "apps");
  if (apps == nullptr || !apps->is_array()) return std::nullopt;
  TopDocument document;
  read_node(json, document);
  for (const auto& app : *apps)
    if (app.is_object()) document.apps.push_back(app_of(app));
  return document;
}

std::optional<std::string> EventReader::take(std::string_view piece) {
  std::optional<std::string> newest;
  while (!piece.empty()) {
    const size_t end = piece.find('\n');
    if (line_.size() + piece.size() <= kMaxEvent) line_ += piece.substr(0, end);
    if (end == std::string_view::npos) break;
    piece.remove_prefix(end + 1);
    const std::string line = std::exchange(line_, {});
    take_line(line, newest);
  }
  return newest;
}

void EventReader::take_line(std::string_view line, std::optional<std::string>& newest) {
  constexpr std::string_view kData = "data:";
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.empty()) {
    if (!data_.empty()) newest = std::exchange(data_, {});
    return;
  }
  if (!line.starts_with(kData) || data_.size() + line.size() > kMaxEvent) return;
  line.remove_prefix(kData.size());
  if (line.starts_with(' ')) line.remove_prefix(1);
  if (!data_.empty()) data_ += '\n';
  data_ += line;
}

}  // namespace assay::cli
