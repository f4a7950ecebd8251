// SPDX-License-Identifier: Apache-2.0
#include "render.h"

#include "json_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>

namespace assay::cluster {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kGibi = 1024.0 * 1024 * 1024;
constexpr double kMega = 1e6;
constexpr double kMebi = 1024.0 * 1024;
constexpr size_t kLongestKey = 63;

double rounded(double value) {
  return std::round(value * 100) / 100;
}

std::string gigabytes(double bytes) {
  return fmt::format("{:.0f}GB", bytes / kGibi);
}

/// The keys and values of one object as they come.
class Writer {
 public:
  explicit Writer(const RenderRules& rules) : rules_(rules) {}

  void put(const std::string& key, const Json& value) {
    written_[rules_.domain + "/" + key_part(key)] = spaced(value);
  }
  kubeapi::Annotations finish() && { return std::move(written_); }

 private:
  const RenderRules& rules_;
  kubeapi::Annotations written_;
};

Json ahead_json(const Ahead& ahead) {
  return {{"mean", rounded(ahead.mean)},
          {"low80", rounded(ahead.low80)},
          {"high80", rounded(ahead.high80)},
          {"low95", rounded(ahead.low95)},
          {"high95", rounded(ahead.high95)}};
}

Json forecast_json(const Pattern& pattern) {
  Json json = Json::object();
  if (pattern.hour) json["hour"] = ahead_json(*pattern.hour);
  if (pattern.days.ahead) json["day"] = ahead_json(*pattern.days.ahead);
  return json;
}

void add_usage(Json& json, const std::string& key, const Usage& usage, double unit) {
  if (!usage.count()) return;
  json[key] = {{"max", rounded(usage.max() / unit)},
               {"p95", rounded(usage.p95() / unit)},
               {"mean", rounded(usage.mean() / unit)}};
}

/// Percent of a core, MiB, Mbit/s and MB/s, as in the keys beside.
Json uses_json(const Uses& uses) {
  Json json = Json::object();
  add_usage(json, "cpu_util", uses.cores, 0.01);
  add_usage(json, "cpu_mem_mb", uses.memory, kMebi);
  add_usage(json, "network_mbps", uses.network, kMega / 8);
  add_usage(json, "disk_io", uses.disk, kMega);
  return json;
}

void put_outlook(Writer& writer, const char* key, const std::optional<analysis::Outlook>& outlook) {
  if (!outlook) return;
  writer.put(key, Json{{"seconds", std::round(outlook->seconds)},
                       {"soonest", std::round(outlook->soonest)},
                       {"latest", std::round(outlook->latest)}});
}

void put_pattern(Writer& writer, const std::optional<Pattern>& pattern) {
  if (!pattern) return;
  writer.put("class", analysis::to_string(pattern->use));
  if (const auto forecast = forecast_json(*pattern); !forecast.empty())
    writer.put("forecast", forecast);
}

/// Kind, class, forecast and outlooks of a pod or a job.
void put_findings(Writer& writer, const Findings& found) {
  put_pattern(writer, found.pattern);
  if (!found.kind.empty())
    writer.put("kind", Json{{"kind", found.kind},
                            {"confidence", rounded(found.kind_confidence)},
                            {"evidence", found.evidence}});
  put_outlook(writer, "memory_full_in", found.memory_full);
  put_outlook(writer, "finish_in", found.finish);
}

Json static_json(const NodeState& node) {
  const auto label = [&](const char* name) {
    const auto at = node.gpu_labels.find(name);
    return at == node.gpu_labels.end() ? std::string() : at->second;
  };
  Json json = Json::object();
  const GpuUse* first = node.gpus.empty() ? nullptr : &node.gpus.begin()->second.now;
  const double count = node.gpu_count > 0 ? node.gpu_count : static_cast<double>(node.gpus.size());
  json["count"] = fmt::format("{:.0f}", count);
  const auto model =
      first && !first->model.empty() ? first->model : label("nvidia.com/gpu.product");
  if (!model.empty()) json["model"] = model;
  if (first && first->memory_used && first->memory_free)
    json["mem_size"] = gigabytes(*first->memory_used + *first->memory_free);
  else if (const auto megabytes = label("nvidia.com/gpu.memory"); !megabytes.empty())
    json["mem_size"] = gigabytes(std::strtod(megabytes.c_str(), nullptr) * 1024 * 1024);
  if (first && first->pcie_generation && first->pcie_width)
    json["pcie_gen_width"] =
        fmt::format("{:.0f}x{:.0f}", *first->pcie_generation, *first->pcie_width);
  return json;
}

Json gpu_json(const GpuState& gpu) {
  Json json = Json::object();
  const auto& now = gpu.now;
  if (!now.profile.empty()) json["mig_profile"] = now.profile;
  if (now.memory_used) json["mem_used"] = gigabytes(*now.memory_used);
  if (now.memory_free) json["mem_free"] = gigabytes(*now.memory_free);
  if (now.processes_known) {
    json["process_cnt"] = now.processes.size();
    Json processes = Json::array();
    for (const auto& [pid, bytes] : now.processes)
      processes.push_back(Json::array({pid, fmt::format("{:.0f}MB", bytes / 1024 / 1024)}));
    json["pid-mem"] = processes;
  }
  const auto& pattern = gpu.pattern;
  if (pattern) json["cyclic_pattern"] = pattern->period().has_value();
  if (pattern && pattern->period()) json["period"] = rounded(*pattern->period());
  if (gpu.memory_share.count()) {
    json["max_mem_util"] = rounded(gpu.memory_share.max());
    json["p95_mem_util"] = rounded(gpu.memory_share.p95());
    json["mean_mem_util"] = rounded(gpu.memory_share.mean());
  }
  if (gpu.utilization.count()) {
    json["max_gpu_util"] = rounded(gpu.utilization.max());
    json["p95_gpu_util"] = rounded(gpu.utilization.p95());
    json["mean_gpu_util"] = rounded(gpu.utilization.mean());
  }
  if (pattern) {
    json["class"] = analysis::to_string(pattern->use);
    if (const auto forecast = forecast_json(*pattern); !forecast.empty())
      json["forecast"] = forecast;
  }
  return json;
}

void put_pod_gpu(Writer& writer, const PodGpu& gpu) {
  const auto put = [&](const std::string& key, const Usage& usage) {
    if (!usage.count()) return;
    if (gpu.now) writer.put(key, rounded(usage.last()));
    writer.put("max_" + key, rounded(usage.max()));
  };
  put(gpu_name(gpu.node, gpu.index) + "_util", gpu.utilization);
  put(gpu_name(gpu.node, gpu.index) + "_mem_util", gpu.memory_share);
}

Json worker_json(const WorkerMost& most) {
  Json json = Json::object();
  for (const auto& [name, values] : most.gpus) {
    json[name + "_util"] = rounded(values.first);
    json[name + "_mem_mb"] = rounded(values.second / 1024 / 1024);
  }
  const auto add = [&](const char* key, const std::optional<double>& value, double unit) {
    if (value) json[key] = rounded(*value / unit);
  };
  add("cpu_util", most.cores, 0.01);
  add("cpu_mem_mb", most.memory, kMebi);
  add("network_mbps", most.network, kMega / 8);
  add("disk_io", most.disk, kMega);
  return json;
}

using Worker = std::map<std::string, WorkerMost>::const_iterator;

/// The latest first.
std::vector<Worker> workers_by_time(const JobState& job) {
  std::vector<Worker> workers;
  for (auto at = job.workers.begin(); at != job.workers.end(); ++at) workers.push_back(at);
  std::stable_sort(workers.begin(), workers.end(),
                   [](Worker a, Worker b) { return a->second.last > b->second.last; });
  return workers;
}

}  // namespace

std::string key_part(const std::string& text) {
  std::string part;
  for (const char c : text) {
    const bool fine = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '-' || c == '_' || c == '.';
    part += fine ? c : '_';
  }
  if (part.size() > kLongestKey) {
    // What stands last tells keys of one node apart.
    const auto number = std::hash<std::string>()(text) & 0xffffffU;
    const auto suffix = fmt::format("-{:06x}-{}", number, part.substr(part.size() - 16));
    part = part.substr(0, kLongestKey - suffix.size()) + suffix;
  }
  if (part.empty() || !std::isalnum(static_cast<unsigned char>(part.front()))) part = "x" + part;
  while (part.size() > kLongestKey || !std::isalnum(static_cast<unsigned char>(part.back())))
    part.pop_back();
  return part;
}

kubeapi::Annotations annotations_of(const NodeState& node, const RenderRules& rules) {
  Writer writer(rules);
  if (!node.gpus.empty() || node.gpu_count > 0) writer.put("gpu-static", static_json(node));
  for (const auto& [index, gpu] : node.gpus) writer.put("gpu-" + index, gpu_json(gpu));
  if (const auto uses = uses_json(node.uses); !uses.empty()) writer.put("usage", uses);
  put_pattern(writer, node.pattern);
  return std::move(writer).finish();
}

kubeapi::Annotations annotations_of(const PodState& pod, const RenderRules& rules) {
  Writer writer(rules);
  const auto put = [&](const char* key, const Usage& usage, double unit) {
    if (!usage.count()) return;
    writer.put(key, rounded(usage.last() / unit));
    writer.put(std::string("max_") + key, rounded(usage.max() / unit));
  };
  put("cpu_util", pod.uses.cores, 0.01);
  put("cpu_mem", pod.uses.memory, kMebi);
  put("network", pod.uses.network, kMega / 8);
  put("disk_io", pod.uses.disk, kMega);
  for (const auto& gpu : pod.gpus) put_pod_gpu(writer, gpu);
  auto uses = uses_json(pod.uses);
  for (const auto& gpu : pod.gpus) {
    const auto name = gpu_name(gpu.node, gpu.index);
    add_usage(uses, name + "_util", gpu.utilization, 1);
    add_usage(uses, name + "_mem_util", gpu.memory_share, 1);
  }
  if (!uses.empty()) writer.put("usage", uses);
  put_findings(writer, pod.findings);
  return std::move(writer).finish();
}

kubeapi::Annotations annotations_of(const JobState& job, const RenderRules& rules) {
  Writer writer(rules);
  auto uses = uses_json(job.uses);
  add_usage(uses, "gpus", job.gpus, 1);
  add_usage(uses, "gpu_util", job.gpu_utilization, 1);
  add_usage(uses, "gpu_mem_util", job.gpu_memory_share, 1);
  if (!uses.empty()) writer.put("usage", uses);
  put_findings(writer, job.findings);
  size_t bytes = 0, left_out = 0;
  for (const auto worker : workers_by_time(job)) {
    const auto json = worker_json(worker->second);
    bytes += rules.domain.size() + kLongestKey + spaced(json).size();
    if (bytes <= rules.most_bytes)
      writer.put(worker->first, json);
    else
      ++left_out;
  }
  if (left_out) writer.put("workers_left_out", left_out);
  return std::move(writer).finish();
}

}  // namespace assay::cluster
