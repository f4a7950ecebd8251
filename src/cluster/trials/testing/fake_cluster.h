// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "testing/http_server.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <assay/base/mutex.h>
#include <assay/kubeapi/access.h>

namespace assay::cluster::testing {

/// A stand-in for an API server with Jobs and pods: each Job that is created gets one pod on a node
/// that has room, whose state a test sets; both go when the Job is deleted.
class FakeCluster {
 public:
  FakeCluster() {
    http_ = net::testing::HttpServer::on_loopback(
        [this](net::testing::Connection& connection) { serve(connection); });
  }
  kubeapi::Access access() const { return {.endpoint = {.base = http_->base()}}; }

  /// Changes how it answers, under its lock.
  void set(const std::function<void(FakeCluster&)>& change) {
    const Lock lock(mutex_);
    change(*this);
  }
  std::vector<std::string> asked() const {
    const Lock lock(mutex_);
    return asked_;
  }
  size_t objects() const {
    const Lock lock(mutex_);
    return jobs_.size();
  }
  /// How many Jobs there were at once, at most.
  size_t most_objects() const {
    const Lock lock(mutex_);
    return most_;
  }
  std::string last_created() const {
    const Lock lock(mutex_);
    return created_;
  }

  // What a test sets.
  std::string status = R"({"phase": "Running"})";  ///< of pods
  std::string log = {};
  std::string refusal = {};    ///< of creations, with status 403
  std::string forbidden = {};  ///< what is in paths that are answered with 403
  std::string events = R"({"metadata": {}, "items": []})";
  bool makes_pods = true;
  std::string created_at = {};        ///< when Jobs are created; empty: it does not say
  std::string pod_suffix = "-abcde";  ///< of their names
  int node_count = 1;                 ///< n1, n2 ..., each with four GPUs
  std::string more_nodes = "[]";      ///< beside them, on which it puts no pods
  bool tells_all_pods = true;         ///< also those of other namespaces
  /// Where set, the state of a Job's pod, while there are so many.
  std::function<std::string(const nlohmann::json& pod, size_t pods)> status_of = {};
  bool node_is_there = true;
  bool node_is_ready = true;
  bool original_is_there = false;
  bool has_priority = false;  ///< a class for trials
  int silent = 0;             ///< so many requests are not answered
  int lost_answers = 0;       ///< so many creations happen without an answer
  /// Told of each request before its answer.
  std::function<void(FakeCluster&, const std::string& line)> on_request = {};

 private:
  using Json = nlohmann::json;

  static std::string answer(int status, const std::string& body) {
    return fmt::format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
  }

  void serve(net::testing::Connection& connection) {
    for (std::string request = connection.read_request(); !request.empty();
         request = connection.read_request()) {
      const Lock lock(mutex_);
      const std::string line = request.substr(0, request.find(" HTTP"));
      if (on_request) on_request(*this, line);
      asked_.push_back(line);
      if (silent > 0) {
        --silent;
        return;
      }
      const size_t body = request.find("\r\n\r\n");
      const std::string told = reply(line, request.substr(body + 4));
      if (told.empty()) return;
      connection.write(told);
    }
  }

  std::string reply(const std::string& line, const std::string& body) {
    const auto is = [&](const char* begin) { return line.starts_with(begin); };
    if (!forbidden.empty() && line.find(forbidden) != line.npos)
      return answer(403, R"({"message": "you cannot"})");
    if (is("GET /apis/batch/v1/namespaces/lab/jobs/")) return get_job(line);
    if (is("GET /apis/batch/v1/namespaces/lab/jobs")) return answer(200, list(jobs_));
    if (line == "GET /apis/batch/v1")
      return answer(200, R"({"groupVersion": "batch/v1", "resources": [
          {"name": "jobs", "kind": "Job", "namespaced": true}]})");
    if (is("POST /apis/batch/v1/namespaces/lab/jobs")) return create(body);
    if (is("DELETE /apis/batch/v1/namespaces/lab/jobs/")) return remove(line);
    if (line.find("/log?") != line.npos) return answer(200, log);
    if (is("DELETE /api/v1/namespaces/lab/pods/")) return remove_pod(line, body);
    if (is("GET /api/v1/namespaces/lab/pods")) return answer(200, list_pods(line));
    if (is("GET /api/v1/pods?"))
      return tells_all_pods ? answer(200, list_pods(line)) : answer(403, "{}");
    if (is("GET /api/v1/namespaces/lab/events")) return answer(200, events);
    if (line == "GET /api/v1/namespaces/lab")
      return answer(200, R"({"metadata": {"name": "lab", "uid": "ns-1"}})");
    if (is("GET /api/v1/namespaces/nope/pods") || is("GET /apis/batch/v1/namespaces/nope/jobs"))
      return answer(200, R"({"metadata": {"resourceVersion": "1"}, "items": []})");
    if (is("GET /api/v1/namespaces/nope"))
      return answer(404, R"({"kind": "Status", "reason": "NotFound"})");
    if (is("GET /api/v1/nodes")) return answer(200, nodes());
    if (has_priority && is("GET /apis/scheduling.k8s.io/v1/priorityclasses/assay-trial"))
      return answer(200, "{}");
    return answer(404, "404 page not found");
  }

  static std::string name_in(const std::string& line) {
    const std::string path = line.substr(0, line.find('?'));
    return path.substr(path.rfind('/') + 1);
  }

  std::string get_job(const std::string& line) {
    const auto found = jobs_.find(name_in(line));
    // A node that is back ends what it was told to.
    if (found != jobs_.end() && found->second["metadata"].contains("deletionTimestamp") &&
        node_is_there && node_is_ready) {
      pods_.erase(found->first);
      jobs_.erase(found);
      return answer(404, R"({"message": "not found"})");
    }
    if (found != jobs_.end()) return answer(200, found->second.dump());
    if (original_is_there && name_in(line) == "train")
      return answer(200,
                    R"({"metadata": {"name": "train", "namespace": "lab", "uid": "original"}})");
    return answer(404, R"({"message": "not found"})");
  }

  std::string create(const std::string& body) {
    if (!refusal.empty()) return answer(403, Json{{"message", refusal}}.dump());
    Json job = Json::parse(body);
    const std::string name = job["metadata"]["name"];
    if (jobs_.contains(name)) return answer(409, R"({"message": "already exists"})");
    created_ = body;
    job["metadata"]["uid"] = "uid-" + name;
    if (!created_at.empty()) job["metadata"]["creationTimestamp"] = created_at;
    jobs_[name] = job;
    if (makes_pods) {
      Json pod = {{"metadata", job["spec"]["template"]["metadata"]},
                  {"spec", job["spec"]["template"]["spec"]}};
      pod["metadata"]["namespace"] = "lab";
      pod["metadata"]["uid"] = "uid-pod-" + name;
      pod["metadata"]["ownerReferences"] = Json::array({{{"kind", "Job"},
                                                         {"name", name},
                                                         {"uid", "u"},
                                                         {"apiVersion", "batch/v1"},
                                                         {"controller", true}}});
      if (const std::string node = node_for(pod); !node.empty()) pod["spec"]["nodeName"] = node;
      pods_[name] = pod;
    }
    most_ = std::max(most_, jobs_.size());
    if (lost_answers > 0) {
      --lost_answers;
      return "";
    }
    return answer(201, job.dump());
  }

  std::string remove(const std::string& line) {
    const std::string name = name_in(line);
    if (!jobs_.contains(name)) return answer(404, R"({"message": "not found"})");
    // Its pod goes first, which its node has to tell.
    if (pods_.contains(name) && !(node_is_there && node_is_ready)) {
      jobs_[name]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
      return answer(200, jobs_[name].dump());
    }
    pods_.erase(name);
    jobs_.erase(name);
    return answer(200, R"({"status": "Success"})");
  }

  std::string remove_pod(const std::string& line, const std::string& body) {
    const std::string name = name_in(line).substr(0, name_in(line).size() - pod_suffix.size());
    const Json options = Json::parse(body);
    if (!pods_.contains(name)) return answer(404, R"({"message": "not found"})");
    if (options["preconditions"]["uid"] != pods_[name]["metadata"]["uid"])
      return answer(409, R"({"message": "the UID in the precondition differs"})");
    if (options["gracePeriodSeconds"] != 0) return answer(200, "{}");
    pods_.erase(name);
    if (jobs_.contains(name) && jobs_[name]["metadata"].contains("deletionTimestamp"))
      jobs_.erase(name);
    return answer(200, "{}");
  }

  std::string list(const std::map<std::string, Json>& all) const {
    Json items = Json::array();
    for (const auto& [name, object] : all) items.push_back(object);
    return Json{{"metadata", {{"resourceVersion", "1"}}}, {"items", items}}.dump();
  }

  /// Those of the copy, or of the node, that a selector names.
  std::string list_pods(const std::string& line) const {
    constexpr const char* kWaits = R"({"phase": "Pending", "conditions": [{"type": "PodScheduled",
        "status": "False", "reason": "Unschedulable", "message": "Insufficient nvidia.com/gpu"}]})";
    std::map<std::string, Json> found;
    for (auto [name, pod] : pods_) {
      const std::string node = pod["spec"].value("nodeName", "");
      const bool other_copy =
          line.find("assay.trial.copy%3D") != line.npos && line.find("%3D" + name) == line.npos;
      const bool other_node = line.find("spec.nodeName%3D") != line.npos &&
                              line.find("nodeName%3D" + node + "%2C") == line.npos;
      if (other_copy || other_node) continue;
      pod["status"] = Json::parse(status_of      ? status_of(pod, pods_.size())
                                  : node.empty() ? kWaits
                                                 : status);
      pod["metadata"]["name"] = name + pod_suffix;
      found[name] = pod;
    }
    return list(found);
  }

  static double gpus_of(const Json& pod) {
    const Json resources = pod["spec"]["containers"][0].value("resources", Json::object());
    return std::stod(resources.value("requests", Json::object()).value("nvidia.com/gpu", "0"));
  }

  /// As a scheduler does; empty: there is no room.
  std::string node_for(const Json& pod) const {
    for (int i = 1; i <= node_count; ++i) {
      std::string node = fmt::format("n{}", i);
      double used = gpus_of(pod);
      bool shared = false;
      for (const auto& [name, other] : pods_) {
        if (other["spec"].value("nodeName", "") != node) continue;
        used += gpus_of(other);
        shared = true;
      }
      if (used <= 4 && !(shared && pod["spec"].contains("affinity"))) return node;
    }
    return "";
  }

  std::string nodes() const {
    Json items = Json::array();
    for (int i = 1; node_is_there && i <= node_count; ++i) {
      items.push_back(Json::parse(R"({"metadata": {"name": "", "uid": "n",
          "labels": {"nvidia.com/gpu.product": "A100"}},
          "status": {"allocatable": {"nvidia.com/gpu": "4", "cpu": "8"},
                     "conditions": [{"type": "Ready", "status": "True"}]}})"));
      items.back()["metadata"]["name"] = fmt::format("n{}", i);
      if (!node_is_ready) items.back()["status"]["conditions"][0]["status"] = "Unknown";
    }
    for (const auto& more : Json::parse(more_nodes)) items.push_back(more);
    return Json{{"metadata", {{"resourceVersion", "1"}}}, {"items", items}}.dump();
  }

  mutable Mutex mutex_;
  std::map<std::string, Json> jobs_;
  std::map<std::string, Json> pods_;
  std::vector<std::string> asked_;
  std::string created_;
  size_t most_ = 0;
  std::unique_ptr<net::testing::HttpServer> http_;
};

}  // namespace assay::cluster::testing
