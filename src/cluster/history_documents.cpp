// SPDX-License-Identifier: Apache-2.0
#include "history_documents.h"

#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace assay::cluster {
namespace {

using nlohmann::json;

json usage_json(const Usage& usage) {
  return json::parse(usage.to_text());
}

Result<Usage> parse_usage(const json& from, const char* name) {
  return Usage::from_text(from.at(name).dump());
}

json uses_json(const Uses& uses) {
  return {{"cores", usage_json(uses.cores)},
          {"memory_bytes", usage_json(uses.memory)},
          {"network_bytes_per_second", usage_json(uses.network)},
          {"disk_bytes_per_second", usage_json(uses.disk)}};
}

Result<Uses> parse_uses(const json& from) {
  Uses uses;
  ASSAY_TRY(uses.cores, parse_usage(from, "cores"));
  ASSAY_TRY(uses.memory, parse_usage(from, "memory_bytes"));
  ASSAY_TRY(uses.network, parse_usage(from, "network_bytes_per_second"));
  ASSAY_TRY(uses.disk, parse_usage(from, "disk_bytes_per_second"));
  return uses;
}

Timestamp parse_time(const json& from, const char* name) {
  return from_unix_ns(from.at(name).get<int64_t>());
}

json object_json(const kubeapi::ObjectName& object) {
  return {{"group", object.resource.group},
          {"version", object.resource.version},
          {"plural", object.resource.plural},
          {"kind", object.resource.kind},
          {"namespaced", object.resource.namespaced},
          {"namespace", object.name_space},
          {"name", object.name},
          {"uid", object.uid}};
}

kubeapi::ObjectName parse_object(const json& from) {
  const auto text = [&](const char* name) { return from.at(name).get<std::string>(); };
  return {{text("group"), text("version"), text("plural"), text("kind"),
           from.at("namespaced").get<bool>()},
          text("namespace"),
          text("name"),
          text("uid")};
}

constexpr std::array<std::pair<const char*, std::optional<double> WorkerMost::*>, 4> kWorkerMost = {
    {{"cores", &WorkerMost::cores},
     {"memory", &WorkerMost::memory},
     {"network", &WorkerMost::network},
     {"disk", &WorkerMost::disk}}};

json worker_json(const WorkerMost& most) {
  json gpus = json::object();
  for (const auto& [name, values] : most.gpus) gpus[name] = {values.first, values.second};
  json worker = {{"gpus", gpus}, {"last", unix_ns(most.last)}};
  for (const auto& [name, member] : kWorkerMost)
    if (most.*member) worker[name] = *(most.*member);
  return worker;
}

WorkerMost parse_worker(const json& from) {
  WorkerMost most;
  for (const auto& [name, member] : kWorkerMost)
    if (from.contains(name)) most.*member = from.at(name).get<double>();
  most.last = parse_time(from, "last");
  for (const auto& [name, values] : from.at("gpus").items())
    most.gpus[name] = {values.at(0).get<double>(), values.at(1).get<double>()};
  return most;
}

json gpu_json(const PodGpu& gpu) {
  return {{"node", gpu.node},
          {"index", gpu.index},
          {"utilization", usage_json(gpu.utilization)},
          {"memory_share", usage_json(gpu.memory_share)},
          {"most_memory", gpu.most_memory}};
}

Result<PodGpu> parse_pod_gpu(const json& from) {
  PodGpu gpu{.node = from.at("node").get<std::string>(),
             .index = from.at("index").get<std::string>()};
  ASSAY_TRY(gpu.utilization, parse_usage(from, "utilization"));
  ASSAY_TRY(gpu.memory_share, parse_usage(from, "memory_share"));
  gpu.most_memory = from.at("most_memory").get<double>();
  return gpu;
}

json gpu_json(const GpuState& gpu) {
  return {{"uuid", gpu.now.uuid},
          {"model", gpu.now.model},
          {"utilization", usage_json(gpu.utilization)},
          {"memory_share", usage_json(gpu.memory_share)}};
}

Result<GpuState> parse_node_gpu(const json& from) {
  GpuState gpu;
  gpu.now.uuid = from.at("uuid").get<std::string>();
  gpu.now.model = from.at("model").get<std::string>();
  ASSAY_TRY(gpu.utilization, parse_usage(from, "utilization"));
  ASSAY_TRY(gpu.memory_share, parse_usage(from, "memory_share"));
  return gpu;
}

void put_findings(json& into, const Findings& found) {
  into["kind"] = found.kind;
  if (!found.kind.empty()) {
    into["kind_confidence"] = found.kind_confidence;
    into["evidence"] = found.evidence;
  }
  if (found.pattern) into["class"] = analysis::to_string(found.pattern->use);
}

Findings parse_findings(const json& from) {
  Findings found;
  found.kind = from.at("kind").get<std::string>();
  found.kind_confidence = from.value("kind_confidence", 0.0);
  found.evidence = from.value("evidence", "");
  const auto use = from.value("class", "");
  for (const auto each : {analysis::UseClass::idle, analysis::UseClass::bursty,
                          analysis::UseClass::steady, analysis::UseClass::saturated})
    if (use == analysis::to_string(each)) found.pattern = Pattern{.use = each};
  return found;
}

/// What is amiss in a document is told as an error, wherever in it that is.
template <class T, class Read>
Result<T> parse_document(const std::string& document, const char* what, Read read) {
  T state;
  try {
    ASSAY_CHECK(read(json::parse(document), state));
  } catch (const json::exception&) {
    return bad_input(fmt::format("a {} of the history cannot be read", what));
  }
  return state;
}

Result<void> read_job(const json& from, JobState& job) {
  job.object = parse_object(from.at("object"));
  for (const auto& [name, most] : from.at("workers").items())
    job.workers[name] = parse_worker(most);
  ASSAY_TRY(job.uses, parse_uses(from.at("uses")));
  ASSAY_TRY(job.gpu_utilization, parse_usage(from, "gpu_utilization"));
  if (from.contains("gpu_memory_share")) {  // older documents have none
    ASSAY_TRY(job.gpu_memory_share, parse_usage(from, "gpu_memory_share"));
  }
  ASSAY_TRY(job.gpus, parse_usage(from, "gpus"));
  job.findings = parse_findings(from);
  job.first = parse_time(from, "first");
  job.last = parse_time(from, "last");
  job.gone = from.at("gone").get<bool>();
  job.trial = from.value("trial", "");
  job.cluster = from.value("cluster", "");
  return {};
}

Result<void> read_pod(const json& from, PodRecord& pod) {
  pod.object = parse_object(from.at("object"));
  pod.node = from.at("node").get<std::string>();
  pod.job = from.at("job").get<std::string>();
  ASSAY_TRY(pod.uses, parse_uses(from.at("uses")));
  for (const auto& each : from.at("gpus")) {
    ASSAY_TRY(auto gpu, parse_pod_gpu(each));
    pod.gpus.push_back(std::move(gpu));
  }
  pod.findings = parse_findings(from);
  pod.first = parse_time(from, "first");
  pod.last = parse_time(from, "last");
  return {};
}

Result<void> read_node(const json& from, NodeState& node) {
  node.object = parse_object(from.at("object"));
  ASSAY_TRY(node.uses, parse_uses(from.at("uses")));
  for (const auto& [index, each] : from.at("gpus").items()) {
    ASSAY_TRY(node.gpus[index], parse_node_gpu(each));
  }
  // Earlier versions had none.
  if (from.contains("kind")) node.pattern = parse_findings(from).pattern;
  return {};
}

}  // namespace

std::string job_document(const JobState& job) {
  json workers = json::object();
  for (const auto& [name, most] : job.workers) workers[name] = worker_json(most);
  json document{{"object", object_json(job.object)},
                {"workers", workers},
                {"uses", uses_json(job.uses)},
                {"gpu_utilization", usage_json(job.gpu_utilization)},
                {"gpu_memory_share", usage_json(job.gpu_memory_share)},
                {"gpus", usage_json(job.gpus)},
                {"first", unix_ns(job.first)},
                {"last", unix_ns(job.last)},
                {"gone", job.gone}};
  if (!job.trial.empty()) document["trial"] = job.trial;
  if (!job.cluster.empty()) document["cluster"] = job.cluster;
  put_findings(document, job.findings);
  return document.dump();
}

std::string pod_document(const PodRecord& pod) {
  json gpus = json::array();
  for (const auto& gpu : pod.gpus) gpus.push_back(gpu_json(gpu));
  json document{
      {"object", object_json(pod.object)}, {"node", pod.node}, {"job", pod.job},
      {"uses", uses_json(pod.uses)},       {"gpus", gpus},     {"first", unix_ns(pod.first)},
      {"last", unix_ns(pod.last)}};
  put_findings(document, pod.findings);
  return document.dump();
}

std::string node_document(const NodeState& node) {
  json gpus = json::object();
  for (const auto& [index, gpu] : node.gpus) gpus[index] = gpu_json(gpu);
  json document{
      {"object", object_json(node.object)}, {"uses", uses_json(node.uses)}, {"gpus", gpus}};
  put_findings(document, {.pattern = node.pattern});
  return document.dump();
}

Result<JobState> parse_job(const std::string& document) {
  return parse_document<JobState>(document, "job", read_job);
}

Result<PodRecord> parse_pod(const std::string& document) {
  return parse_document<PodRecord>(document, "pod", read_pod);
}

Result<NodeState> parse_node(const std::string& document) {
  return parse_document<NodeState>(document, "node", read_node);
}

}  // namespace assay::cluster
