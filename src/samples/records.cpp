// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/samples/records.h>

namespace assay {
namespace {

constexpr std::array<std::string_view, 6> kStatusNames = {"running", "finished", "timeout",
                                                          "failed",  "oom",      "interrupted"};
constexpr std::array<std::string_view, 4> kComparisonNames = {"<", "<=", ">", ">="};

constexpr std::array<std::string_view, 3> kStreamKinds = {"video", "image", "audio"};

template <class T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

void put(Json& json, const char* key, const std::string& value) {
  if (!value.empty()) json[key] = value;
}

/// Reads `key` into `out` when it is there; a wrong type throws and is caught at the room's edge.
template <class T>
void get(const Json& json, const char* key, T& out) {
  if (const auto it = json.find(key); it != json.end() && !it->is_null())
    out = it->template get<T>();
}

template <class T>
void get(const Json& json, const char* key, std::optional<T>& out) {
  if (const auto it = json.find(key); it != json.end() && !it->is_null())
    out = it->template get<T>();
}

void get_duration(const Json& json, const char* key, Nanoseconds& out) {
  if (const auto it = json.find(key); it != json.end()) out = from_seconds(it->get<double>());
}

void get_time(const Json& json, const char* key, Timestamp& out) {
  if (const auto it = json.find(key); it != json.end()) out = from_unix_ns(it->get<int64_t>());
}

Json goals_to_json(const std::vector<Goal>& goals) {
  Json list = Json::array();
  for (const auto& g : goals) {
    list.push_back({{"goal", g.text},
                    {"metric", g.metric},
                    {"statistic", g.statistic},
                    {"comparison", to_string(g.comparison)},
                    {"bound", g.bound}});
  }
  return list;
}

Goal goal_from(const Json& json) {
  Goal goal;
  get(json, "goal", goal.text);
  get(json, "metric", goal.metric);
  get(json, "statistic", goal.statistic);
  get(json, "bound", goal.bound);
  std::string comparison;
  get(json, "comparison", comparison);
  for (size_t i = 0; i < kComparisonNames.size(); ++i) {
    if (kComparisonNames[i] == comparison) goal.comparison = static_cast<Comparison>(i);
  }
  return goal;
}

Json limits_to_json(const Limits& limits) {
  Json json = Json::object();
  put(json, "cpus", limits.cpus);
  put(json, "memory_bytes", limits.memory_bytes);
  put(json, "pids", limits.pids);
  put(json, "gpus", limits.gpus);
  if (limits.network.empty()) return json;
  Json& link = json["network"] = Json::object();
  put(link, "rate_bits_per_second", limits.network.rate_bits_per_second);
  if (limits.network.delay) link["delay_seconds"] = seconds(*limits.network.delay);
  put(link, "loss_ratio", limits.network.loss_ratio);
  return json;
}

Limits limits_from(const Json& json) {
  Limits limits;
  get(json, "cpus", limits.cpus);
  get(json, "memory_bytes", limits.memory_bytes);
  get(json, "pids", limits.pids);
  get(json, "gpus", limits.gpus);
  const auto link = json.find("network");
  if (link == json.end()) return limits;
  get(*link, "rate_bits_per_second", limits.network.rate_bits_per_second);
  get(*link, "loss_ratio", limits.network.loss_ratio);
  if (link->contains("delay_seconds")) {
    limits.network.delay.emplace();
    get_duration(*link, "delay_seconds", *limits.network.delay);
  }
  return limits;
}

Json to_json(const Stream& stream) {
  Json json = {{"id", stream.id}, {"type", to_string(stream.kind)}};
  put(json, "files", stream.files);
  json["fps"] = stream.frames_per_second;
  json["loop"] = stream.loop;
  return json;
}

Stream stream_from(const Json& json) {
  Stream stream;
  get(json, "id", stream.id);
  get(json, "files", stream.files);
  get(json, "fps", stream.frames_per_second);
  get(json, "loop", stream.loop);
  std::string kind;
  get(json, "type", kind);
  stream.kind = stream_kind_from(kind).value_or(StreamKind::video);
  return stream;
}

Json to_json(const Need& need) {
  Json json = {{"name", need.name}, {"image", need.image}, {"command", need.command}};
  json["env"] = need.env;
  put(json, "ready_port", need.ready_port);
  put(json, "ready_log", need.ready_log);
  json["ready_timeout_seconds"] = seconds(need.ready_timeout);
  return json;
}

Need need_from(const Json& json) {
  Need need;
  get(json, "name", need.name);
  get(json, "image", need.image);
  get(json, "command", need.command);
  get(json, "env", need.env);
  get(json, "ready_port", need.ready_port);
  get(json, "ready_log", need.ready_log);
  get_duration(json, "ready_timeout_seconds", need.ready_timeout);
  return need;
}

App app_from(const Json& json) {
  App app;
  get(json, "namespace", app.name_space);
  get(json, "name", app.name);
  get(json, "version", app.version);
  get(json, "image", app.image);
  return app;
}

Target target_from(const Json& json) {
  Target t;
  get(json, "name", t.name);
  get(json, "image", t.image);
  get(json, "command", t.command);
  get(json, "env", t.env);
  get(json, "workdir", t.workdir);
  get(json, "runtime", t.runtime);
  get(json, "docker_args", t.docker_args);
  get(json, "dataset", t.dataset);
  get(json, "dataset_sha256", t.dataset_sha256);
  if (const auto it = json.find("playback"); it != json.end()) {
    for (const auto& stream : *it) t.playback.push_back(stream_from(stream));
  }
  if (const auto it = json.find("needs"); it != json.end()) {
    for (const auto& need : *it) t.needs.push_back(need_from(need));
  }
  get_duration(json, "timeout_seconds", t.timeout);
  get_duration(json, "warmup_seconds", t.warmup);
  get_duration(json, "interval_seconds", t.interval);
  get_duration(json, "grace_seconds", t.grace);
  get(json, "repeat", t.repeat);
  if (const auto it = json.find("resources"); it != json.end()) t.limits = limits_from(*it);
  if (const auto it = json.find("goals"); it != json.end()) {
    for (const auto& g : *it) t.goals.push_back(goal_from(g));
  }
  get(json, "metrics", t.metrics);
  return t;
}

Exit exit_from(const Json& json) {
  Exit e;
  get(json, "code", e.code);
  get(json, "signal", e.signal);
  get(json, "core_dumped", e.core_dumped);
  get(json, "oom_killed", e.oom_killed);
  get(json, "forks_refused", e.forks_refused);
  get(json, "refused", e.refused);
  get(json, "user_seconds", e.user_seconds);
  get(json, "system_seconds", e.system_seconds);
  get(json, "max_rss_bytes", e.max_rss_bytes);
  get(json, "detail", e.detail);
  return e;
}

Device device_from(const Json& json) {
  Device d;
  get(json, "hostname", d.hostname);
  get(json, "machine_id", d.machine_id);
  get(json, "model", d.model);
  get(json, "class", d.device_class);
  get(json, "cpu_model", d.cpu_model);
  get(json, "architecture", d.architecture);
  get(json, "cores", d.cores);
  get(json, "memory_bytes", d.memory_bytes);
  get(json, "os", d.os);
  get(json, "kernel", d.kernel);
  return d;
}

BoardState board_from(const Json& json) {
  BoardState b;
  get(json, "governor", b.governor);
  get(json, "min_frequency_hertz", b.min_frequency_hertz);
  get(json, "max_frequency_hertz", b.max_frequency_hertz);
  get(json, "throttling", b.throttling);
  get(json, "power_mode", b.power_mode);
  get(json, "kernel", b.kernel);
  get(json, "load_before", b.load_before);
  return b;
}

Sampling sampling_from(const Json& json) {
  Sampling s;
  get_duration(json, "interval_seconds", s.interval);
  get_duration(json, "achieved_interval_seconds", s.achieved_interval);
  get(json, "beats", s.beats);
  get(json, "late_beats", s.late_beats);
  get_duration(json, "worst_lateness_seconds", s.worst_lateness);
  get(json, "own_cpu_seconds", s.own_cpu_seconds);
  return s;
}

Elsewhere elsewhere_from(const Json& json) {
  Elsewhere e;
  get(json, "node", e.node);
  get(json, "measured_by", e.measured_by);
  get_duration(json, "clock_offset_seconds", e.clock_offset);
  get_duration(json, "clock_uncertainty_seconds", e.clock_uncertainty);
  return e;
}

Json to_json(const Elsewhere& e) {
  return {{"node", e.node},
          {"measured_by", e.measured_by},
          {"clock_offset_seconds", seconds(e.clock_offset)},
          {"clock_uncertainty_seconds", seconds(e.clock_uncertainty)}};
}

Json to_json(const std::vector<OtherProcess>& others) {
  Json list = Json::array();
  for (const auto& o : others) list.push_back({{"name", o.name}, {"cpu_cores", o.cpu_cores}});
  return list;
}

std::vector<OtherProcess> others_from(const Json& json) {
  std::vector<OtherProcess> others;
  const auto it = json.find("processes");
  if (it == json.end()) return others;
  for (const auto& o : *it) others.push_back({o.at("name"), o.at("cpu_cores")});
  return others;
}

RunRecord run_from(const Json& json) {
  RunRecord r;
  get(json, "run", r.ordinal);
  get(json, "target_index", r.target_index);
  get(json, "repeat_index", r.repeat_index);
  if (json.contains("target")) r.target = target_from(json["target"]);
  get(json, "runtime", r.runtime);
  get(json, "isolation", r.isolation);
  std::string status;
  get(json, "status", status);
  r.status = run_status_from(status).value_or(RunStatus::interrupted);
  if (json.contains("exit")) r.exit = exit_from(json["exit"]);
  get_time(json, "started_unix_ns", r.started);
  get_time(json, "ended_unix_ns", r.ended);
  if (json.contains("board")) r.board = board_from(json["board"]);
  if (json.contains("other_load")) r.others = others_from(json["other_load"]);
  if (json.contains("sampling")) r.sampling = sampling_from(json["sampling"]);
  if (json.contains("elsewhere")) r.elsewhere = elsewhere_from(json["elsewhere"]);
  if (const auto it = json.find("not_measured"); it != json.end()) {
    for (const auto& n : *it) r.not_measured.push_back({n.at("what"), n.at("why")});
  }
  if (const auto it = json.find("losses"); it != json.end()) {
    for (const auto& l : *it) r.losses.push_back({l.at("source"), l.at("reason"), l.at("count")});
  }
  return r;
}

template <class F>
auto translated(F&& parse) -> Result<decltype(parse())> {
  try {
    return parse();
  } catch (const nlohmann::json::exception& e) {
    return bad_input(fmt::format("not a session record: {}", e.what()));
  }
}

}  // namespace

std::string App::full_name() const {
  std::string text = name_space.empty() ? name : name_space + "/" + name;
  if (!version.empty()) text += ":" + version;
  return text;
}

std::string_view to_string(RunStatus status) {
  return kStatusNames[static_cast<size_t>(status)];
}
std::string_view to_string(Comparison c) {
  return kComparisonNames[static_cast<size_t>(c)];
}

std::string link_text(const Link& link) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (link.rate_bits_per_second) {
    const double rate = *link.rate_bits_per_second;
    const bool slow = rate < 1e6;
    add(fmt::format("{} {}bit/s", format_number(rate / (slow ? 1e3 : 1e6)), slow ? "k" : "M"));
  }
  if (link.delay) add(format_duration(*link.delay) + " delay");
  if (link.loss_ratio) add(format_number(*link.loss_ratio * 100) + " % loss");
  return text;
}

std::string gpus_text(const Limits& limits) {
  if (limits.gpus == "all") return "all GPUs";
  if (const auto count = parse_uint(limits.gpus))
    return fmt::format("{} GPU{}", *count, *count == 1 ? "" : "s");
  return limits.gpus.empty() ? "" : "GPUs " + limits.gpus;
}

std::string_view to_string(StreamKind kind) {
  return kStreamKinds[static_cast<size_t>(kind)];
}

std::optional<StreamKind> stream_kind_from(std::string_view text) {
  for (size_t i = 0; i < kStreamKinds.size(); ++i) {
    if (kStreamKinds[i] == text) return static_cast<StreamKind>(i);
  }
  return std::nullopt;
}

std::optional<RunStatus> run_status_from(std::string_view text) {
  for (size_t i = 0; i < kStatusNames.size(); ++i) {
    if (kStatusNames[i] == text) return static_cast<RunStatus>(i);
  }
  return std::nullopt;
}

Json to_json(const App& app) {
  Json json = {{"name", app.name}};
  put(json, "namespace", app.name_space);
  put(json, "version", app.version);
  put(json, "image", app.image);
  return json;
}

Json to_json(const Target& t) {
  Json json = {{"command", t.command}};
  put(json, "name", t.name);
  put(json, "image", t.image);
  json["env"] = t.env;
  put(json, "workdir", t.workdir);
  json["runtime"] = t.runtime;
  if (!t.docker_args.empty()) json["docker_args"] = t.docker_args;
  put(json, "dataset", t.dataset);
  put(json, "dataset_sha256", t.dataset_sha256);
  for (const auto& stream : t.playback) json["playback"].push_back(to_json(stream));
  for (const auto& need : t.needs) json["needs"].push_back(to_json(need));
  json["timeout_seconds"] = seconds(t.timeout);
  json["warmup_seconds"] = seconds(t.warmup);
  json["interval_seconds"] = seconds(t.interval);
  json["grace_seconds"] = seconds(t.grace);
  json["repeat"] = t.repeat;
  json["resources"] = limits_to_json(t.limits);
  json["goals"] = goals_to_json(t.goals);
  json["metrics"] = t.metrics;
  return json;
}

Json to_json(const Exit& e) {
  Json json = Json::object();
  put(json, "code", e.code);
  put(json, "signal", e.signal);
  json["core_dumped"] = e.core_dumped;
  json["oom_killed"] = e.oom_killed;
  if (e.forks_refused > 0) json["forks_refused"] = e.forks_refused;
  if (e.refused) json["refused"] = true;
  put(json, "user_seconds", e.user_seconds);
  put(json, "system_seconds", e.system_seconds);
  put(json, "max_rss_bytes", e.max_rss_bytes);
  put(json, "detail", e.detail);
  return json;
}

Json to_json(const Device& d) {
  Json json = {{"hostname", d.hostname}, {"cores", d.cores}, {"memory_bytes", d.memory_bytes}};
  put(json, "machine_id", d.machine_id);
  put(json, "model", d.model);
  put(json, "class", d.device_class);
  put(json, "cpu_model", d.cpu_model);
  put(json, "architecture", d.architecture);
  put(json, "os", d.os);
  put(json, "kernel", d.kernel);
  return json;
}

Json to_json(const BoardState& b) {
  Json json = {{"load_before", b.load_before}, {"throttling", b.throttling}};
  put(json, "governor", b.governor);
  put(json, "min_frequency_hertz", b.min_frequency_hertz);
  put(json, "max_frequency_hertz", b.max_frequency_hertz);
  put(json, "power_mode", b.power_mode);
  put(json, "kernel", b.kernel);
  return json;
}

Json to_json(const Sampling& s) {
  return {{"interval_seconds", seconds(s.interval)},
          {"achieved_interval_seconds", seconds(s.achieved_interval)},
          {"beats", s.beats},
          {"late_beats", s.late_beats},
          {"worst_lateness_seconds", seconds(s.worst_lateness)},
          {"own_cpu_seconds", s.own_cpu_seconds}};
}

Json to_json(const RunRecord& r) {
  Json not_measured = Json::array();
  for (const auto& n : r.not_measured) not_measured.push_back({{"what", n.what}, {"why", n.why}});
  Json losses = Json::array();
  for (const auto& l : r.losses) {
    losses.push_back({{"source", l.source}, {"reason", l.reason}, {"count", l.count}});
  }
  Json json = {{"run", r.ordinal},
               {"target_index", r.target_index},
               {"repeat_index", r.repeat_index},
               {"target", to_json(r.target)},
               {"runtime", r.runtime},
               {"isolation", r.isolation},
               {"status", to_string(r.status)},
               {"exit", to_json(r.exit)},
               {"started_unix_ns", unix_ns(r.started)},
               {"ended_unix_ns", unix_ns(r.ended)},
               {"duration_seconds", seconds(r.duration())},
               {"board", to_json(r.board)},
               {"not_measured", not_measured},
               {"losses", losses}};
  if (!r.others.empty()) json["other_load"]["processes"] = to_json(r.others);
  if (r.sampling) json["sampling"] = to_json(*r.sampling);
  if (r.elsewhere) json["elsewhere"] = to_json(*r.elsewhere);
  return json;
}

Json to_json(const SessionRecord& s) {
  Json runs = Json::array();
  for (const auto& r : s.runs) runs.push_back(to_json(r));
  Json json = {{"schema", 1},
               {"session", s.id},
               {"app", to_json(s.app)},
               {"device", to_json(s.device)},
               {"user", s.user},
               {"assay_version", s.assay_version},
               {"created_unix_ns", unix_ns(s.created)},
               {"folder", s.folder},
               {"labels", s.labels}};
  if (s.planned_runs > 0) json["planned_runs"] = s.planned_runs;
  json["runs"] = runs;
  return json;
}

Result<RunRecord> run_from_json(const Json& json) {
  return translated([&] { return run_from(json); });
}

Result<SessionRecord> session_from_json(const Json& json) {
  return translated([&] {
    SessionRecord s;
    s.id = json.at("session").get<std::string>();
    if (json.contains("app")) s.app = app_from(json["app"]);
    if (json.contains("device")) s.device = device_from(json["device"]);
    get(json, "user", s.user);
    get(json, "assay_version", s.assay_version);
    get_time(json, "created_unix_ns", s.created);
    get(json, "folder", s.folder);
    get(json, "labels", s.labels);
    get(json, "planned_runs", s.planned_runs);
    if (const auto it = json.find("runs"); it != json.end()) {
      for (const auto& r : *it) s.runs.push_back(run_from(r));
    }
    return s;
  });
}

}  // namespace assay
