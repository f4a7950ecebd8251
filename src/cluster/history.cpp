// SPDX-License-Identifier: Apache-2.0
#include "history.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace assay::cluster {
namespace {

using nlohmann::json;
using Documents = std::vector<std::pair<std::string, std::string>>;

/// More pods than that, of an unreachable store, are not remembered.
constexpr size_t kMostGone = 20'000;

json uses_json(const Uses& uses) {
  const auto usage = [](const Usage& one) { return json::parse(one.to_text()); };
  return {{"cores", usage(uses.cores)},
          {"memory_bytes", usage(uses.memory)},
          {"network_bytes_per_second", usage(uses.network)},
          {"disk_bytes_per_second", usage(uses.disk)}};
}

Result<Uses> parse_uses(const json& from) {
  Uses uses;
  const auto read = [&](const char* name, Usage& into) -> Result<void> {
    ASSAY_TRY(into, Usage::from_text(from.at(name).dump()));
    return {};
  };
  ASSAY_CHECK(read("cores", uses.cores));
  ASSAY_CHECK(read("memory_bytes", uses.memory));
  ASSAY_CHECK(read("network_bytes_per_second", uses.network));
  ASSAY_CHECK(read("disk_bytes_per_second", uses.disk));
  return uses;
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

json worker_json(const WorkerMost& most) {
  json gpus = json::object();
  for (const auto& [name, values] : most.gpus) gpus[name] = {values.first, values.second};
  return {{"cores", most.cores}, {"memory", most.memory}, {"network", most.network},
          {"disk", most.disk},   {"gpus", gpus},          {"last", unix_ns(most.last)}};
}

WorkerMost parse_worker(const json& from) {
  WorkerMost most;
  most.cores = from.at("cores").get<double>();
  most.memory = from.at("memory").get<double>();
  most.network = from.at("network").get<double>();
  most.disk = from.at("disk").get<double>();
  most.last = from_unix_ns(from.at("last").get<int64_t>());
  for (const auto& [name, values] : from.at("gpus").items())
    most.gpus[name] = {values.at(0).get<double>(), values.at(1).get<double>()};
  return most;
}

json gpus_json(const std::vector<PodGpu>& gpus) {
  json all = json::object();
  for (const auto& gpu : gpus)
    all[gpu_name(gpu.node, gpu.index)] = {{"utilization", json::parse(gpu.utilization.to_text())},
                                          {"most_memory", gpu.most_memory}};
  return all;
}

}  // namespace

std::string job_document(const JobState& job) {
  json workers = json::object();
  for (const auto& [name, most] : job.workers) workers[name] = worker_json(most);
  return json{{"object", object_json(job.object)},
              {"workers", workers},
              {"uses", uses_json(job.uses)},
              {"gpu_utilization", json::parse(job.gpu_utilization.to_text())},
              {"gpus", json::parse(job.gpus.to_text())},
              {"kind", job.findings.kind},
              {"first", unix_ns(job.first)},
              {"last", unix_ns(job.last)},
              {"gone", job.gone}}
      .dump();
}

Result<JobState> parse_job(const std::string& document) {
  JobState job;
  try {
    const auto read = json::parse(document);
    job.object = parse_object(read.at("object"));
    for (const auto& [name, most] : read.at("workers").items())
      job.workers[name] = parse_worker(most);
    ASSAY_TRY(job.uses, parse_uses(read.at("uses")));
    ASSAY_TRY(job.gpu_utilization, Usage::from_text(read.at("gpu_utilization").dump()));
    ASSAY_TRY(job.gpus, Usage::from_text(read.at("gpus").dump()));
    job.findings.kind = read.at("kind").get<std::string>();
    job.first = from_unix_ns(read.at("first").get<int64_t>());
    job.last = from_unix_ns(read.at("last").get<int64_t>());
    job.gone = read.at("gone").get<bool>();
  } catch (const json::exception&) {
    return bad_input("a job of the history cannot be read");
  }
  return job;
}

std::string pod_document(const PodState& pod) {
  return json{{"object", object_json(pod.object)}, {"node", pod.node},
              {"uses", uses_json(pod.uses)},       {"gpus", gpus_json(pod.gpus)},
              {"kind", pod.findings.kind},         {"first", unix_ns(pod.first)},
              {"last", unix_ns(pod.last)}}
      .dump();
}

std::string node_document(const NodeState& node) {
  json gpus = json::object();
  for (const auto& [index, gpu] : node.gpus)
    gpus[index] = {{"model", gpu.now.model},
                   {"utilization", json::parse(gpu.utilization.to_text())},
                   {"memory_share", json::parse(gpu.memory_share.to_text())}};
  return json{{"object", object_json(node.object)}, {"uses", uses_json(node.uses)}, {"gpus", gpus}}
      .dump();
}

void History::take_over() {
  beside_ = true;
  known_.clear();
}

Result<void> History::restore(const Seen& seen, Tracker& tracker) {
  for (const auto& pod : seen.pods) {
    if (!pod.job) continue;
    const auto& uid = pod.job->uid;
    if (known_.contains(uid) && tracker.jobs().contains(uid)) continue;
    ASSAY_TRY(const auto document, shelf_.find(kJobKind, uid));
    if (document) {
      auto job = parse_job(document->json);
      if (job)
        tracker.restore(std::move(*job), beside_);
      else  // of a later version, or broken: it is not ours to throw away
        ASSAY_CHECK(shelf_.put(kUnreadableKind, uid, document->json));
    }
    known_.insert(uid);
  }
  beside_ = false;
  return {};
}

Result<void> History::save(Tracker& tracker, Timestamp now, bool all) {
  auto gone = tracker.take_gone();
  std::move(gone.begin(), gone.end(), std::back_inserter(gone_));
  if (gone_.size() > kMostGone) gone_.resize(kMostGone);
  Documents jobs, pods, nodes;
  for (const auto& [uid, job] : tracker.jobs())
    if (job.unsaved && known_.contains(uid)) jobs.emplace_back(uid, job_document(job));
  for (const auto& pod : gone_)
    if (pod.uses.cores.count() || !pod.gpus.empty())
      pods.emplace_back(pod.object.uid, pod_document(pod));
  if (all) {
    for (const auto& [uid, pod] : tracker.pods())
      if (pod.job.empty() && pod.uses.cores.count()) pods.emplace_back(uid, pod_document(pod));
    for (const auto& [name, node] : tracker.nodes()) nodes.emplace_back(name, node_document(node));
  }
  ASSAY_CHECK(shelf_.put_all(kJobKind, jobs));
  ASSAY_CHECK(shelf_.put_all(kPodKind, pods));
  ASSAY_CHECK(shelf_.put_all(kNodeKind, nodes));
  for (const char* kind : {kJobKind, kPodKind, kNodeKind})
    ASSAY_CHECK(shelf_.remove_older(kind, now - keep_));
  gone_.clear();
  for (auto& [uid, job] : tracker.jobs())
    if (known_.contains(uid)) job.unsaved = false;
  std::erase_if(known_, [&](const std::string& uid) { return !tracker.jobs().contains(uid); });
  return {};
}

}  // namespace assay::cluster
