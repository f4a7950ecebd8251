// SPDX-License-Identifier: Apache-2.0
#include "live_json.h"

#include "decide/words.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace assay::agent {
namespace {

using Json = nlohmann::ordered_json;

struct Span {
  const char* name;
  Nanoseconds length;
};
constexpr std::array kSpans = {Span{"10s", std::chrono::seconds(10)},
                               Span{"1m", std::chrono::minutes(1)},
                               Span{"5m", std::chrono::minutes(5)}};

std::string_view to_string(GroupKind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"container", "service", "run", "other"};
  return kNames[static_cast<size_t>(kind)];
}

/// What is not measured is not there.
void set_number(Json& json, const char* name, std::optional<double> value) {
  if (value && std::isfinite(*value)) json[name] = *value;
}

Json window_json(const Window& window, Timestamp now) {
  Json json = Json::object();
  set_number(json, "now", window.latest());
  for (const auto& [name, length] : kSpans) {
    const auto summary = window.over(length, now);
    if (!summary) continue;
    json[name] = {{"mean", summary->mean}, {"p95", summary->p95}, {"max", summary->max}};
  }
  return json;
}

void set_text(Json& json, const char* name, const std::string& text) {
  if (!text.empty()) json[name] = text;
}

Json report_json(const Report& report, Timestamp now) {
  constexpr std::array<std::string_view, 4> kKinds = {"number", "rate", "counter", "timer"};
  Json json = {{"kind", kKinds[static_cast<size_t>(report.info.kind)]}};
  set_text(json, "unit", report.info.unit);
  if (report.info.kind == hooks::ReportKind::timer) {
    set_number(json, "value", statistic(report, "mean", now));
    for (const char* name : {"p50", "p95", "p99"})
      set_number(json, name, statistic(report, name, now));
    json["count"] = report.durations.count();
  } else {
    set_number(json, "value", report.value);
    set_number(json, "mean", statistic(report, "mean", now));
  }
  json["age_seconds"] = seconds(now - report.time);
  return json;
}

Json reported_json(const AppReports& app, Timestamp now) {
  Json json = Json::object();
  for (const auto& [name, report] : app.reports) json[name] = report_json(*report, now);
  return json;
}

Json app_json(const LiveApp& app, Timestamp now) {
  const AppIdentity& identity = app.identity();
  Json json = {
      {"id", identity.path}, {"kind", to_string(identity.group.kind)}, {"name", identity.name}};
  set_text(json, "container_id",
           identity.group.kind == GroupKind::container ? identity.group.id : "");
  set_text(json, "image", identity.image);
  set_text(json, "namespace", identity.name_space);
  set_text(json, "pod", identity.pod);
  set_text(json, "container", identity.container);
  json["running"] = !app.ended();
  if (app.is_lower_bound()) json["lower_bound"] = true;
  json["seconds"] = seconds(app.ended().value_or(now) - app.started());
  for (size_t i = 0; i < kLives; ++i) {
    const auto live = static_cast<Live>(i);
    json[std::string(agent::to_string(live))] = window_json(app.window(live), now);
  }
  set_number(json, "memory_peak_bytes", app.use()[probes::Use::memory_peak]);
  Json limits = Json::object();
  set_number(limits, "cores", app.limits().cores());
  set_number(limits, "memory_bytes", app.limits().memory);
  json["limits"] = limits;
  return json;
}

}  // namespace

namespace {

/// One that reports and is in no group of its own: only what it reports is known.
Json process_json(const AppReports& app) {
  return {{"id", app.path},
          {"kind", "process"},
          {"name", app.app.empty() ? app.path.substr(app.path.rfind('/') + 1) : app.app},
          {"running", app.callers > 0}};
}

}  // namespace

Json to_json(const LiveTable& table, const Reports& reports, const Decisions& decisions,
             Timestamp now) {
  Json apps = Json::array();
  for (const auto& [path, app] : table.apps()) {
    apps.push_back(app_json(*app, now));
    if (const AppReports* reported = reports.of(path))
      apps.back()["reported"] = reported_json(*reported, now);
    if (const Decision* decision = decisions.of(path)) add_decision(apps.back(), *decision, now);
  }
  for (const auto& [path, app] : reports.apps()) {
    if (table.apps().contains(path)) continue;
    apps.push_back(process_json(app));
    apps.back()["reported"] = reported_json(app, now);
    if (const Decision* decision = decisions.of(path)) add_decision(apps.back(), *decision, now);
  }
  return {{"schema", 1}, {"time", format_utc(now)}, {"unix_ns", unix_ns(now)}, {"apps", apps}};
}

namespace {

using probes::Use;

struct NamedUse {
  const char* name;
  Use use;
};
/// By the catalogue's names.
constexpr std::array kUsesByName = {
    NamedUse{"cpu_usage_seconds_total", Use::cpu_seconds},
    NamedUse{"cpu_user_seconds_total", Use::cpu_user_seconds},
    NamedUse{"cpu_system_seconds_total", Use::cpu_system_seconds},
    NamedUse{"cpu_throttled_seconds_total", Use::cpu_throttled_seconds},
    NamedUse{"memory_bytes", Use::memory_working_set},
    NamedUse{"memory_rss_bytes", Use::memory_rss},
    NamedUse{"memory_cache_bytes", Use::memory_cache},
    NamedUse{"memory_swap_bytes", Use::memory_swap},
    NamedUse{"memory_peak_bytes", Use::memory_peak},
    NamedUse{"page_faults_total", Use::page_faults},
    NamedUse{"major_page_faults_total", Use::major_page_faults},
    NamedUse{"processes", Use::processes},
    NamedUse{"threads", Use::threads},
    NamedUse{"pressure_cpu_waiting_seconds_total", Use::cpu_waiting_seconds},
    NamedUse{"pressure_memory_waiting_seconds_total", Use::memory_waiting_seconds},
    NamedUse{"pressure_memory_stalled_seconds_total", Use::memory_stalled_seconds},
    NamedUse{"pressure_io_waiting_seconds_total", Use::io_waiting_seconds},
    NamedUse{"pressure_io_stalled_seconds_total", Use::io_stalled_seconds},
    NamedUse{"oom_kills", Use::oom_kills}};

Json totals_json(const probes::GroupUse& use) {
  Json json = Json::object();
  for (const auto& [name, which] : kUsesByName) set_number(json, name, use[which]);
  const auto add = [&json](const char* name, double value) {
    json[name] = json.value(name, 0.0) + value;
  };
  for (const auto& disk : use.disks) {
    add("disk_read_bytes_total", disk.read_bytes);
    add("disk_write_bytes_total", disk.write_bytes);
    add("disk_reads_total", disk.reads);
    add("disk_writes_total", disk.writes);
  }
  for (const auto& interface : use.interfaces) {
    add("network_receive_bytes_total", interface.received.bytes);
    add("network_transmit_bytes_total", interface.sent.bytes);
  }
  return json;
}

/// [[seconds, how many], ...]
Json durations_json(const hooks::Histogram& durations) {
  Json json = Json::array();
  for (size_t group = 0; group < hooks::Histogram::kGroups; ++group) {
    if (!durations.has_group(group)) continue;
    const size_t first = group * hooks::Histogram::kGroupSize;
    for (size_t bucket = first; bucket < first + hooks::Histogram::kGroupSize; ++bucket) {
      const uint64_t count = durations.in_bucket(bucket);
      if (count > 0) json.push_back({hooks::Histogram::middle(bucket), count});
    }
  }
  return json;
}

Json detail_json(const LiveApp& app, const AppReports* reported, Timestamp now) {
  Json json = app_json(app, now);
  json["started_unix_ns"] = unix_ns(app.started());
  json["read_unix_ns"] = unix_ns(app.last_seen());
  json["totals"] = totals_json(app.use());
  if (reported == nullptr) return json;
  Json& reports = json["reported"] = reported_json(*reported, now);
  for (const auto& [name, report] : reported->reports) {
    reports[name]["unix_ns"] = unix_ns(report->time);
    // As it was at that time: whoever is gone since then counts no more in what is true now.
    if (report->info.kind == hooks::ReportKind::rate)
      set_number(reports[name], "value", report->window.latest());
    if (report->info.kind == hooks::ReportKind::timer)
      reports[name]["durations"] = durations_json(report->durations);
  }
  return json;
}

bool is_called(const LiveApp& app, const std::string& name) {
  const AppIdentity& identity = app.identity();
  return identity.path == name ||
         (identity.group.kind == GroupKind::container && identity.group.id == name);
}

}  // namespace

Json to_json(const std::string& app, const LiveTable& table, const Reports& reports,
             Timestamp now) {
  Json apps = Json::array();
  for (const auto& [path, each] : table.apps()) {
    // Before its first reading there is nothing to tell.
    if (is_called(*each, app) && each->last_seen() != Timestamp())
      apps.push_back(detail_json(*each, reports.of(path), now));
  }
  return {{"schema", 1}, {"time", format_utc(now)}, {"unix_ns", unix_ns(now)}, {"apps", apps}};
}

}  // namespace assay::agent
