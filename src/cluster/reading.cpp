// SPDX-License-Identifier: Apache-2.0
#include "asking.h"
#include "gpu_reading.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>

#include <assay/cluster/reading.h>

namespace assay::cluster {
namespace {

struct PodQuestion {
  std::optional<double> Use::*answer;
  const char* name;
  bool counter;
  /// Else it belongs to the pod as a whole, and every container's series may tell it again.
  bool per_container;
};

constexpr std::array kPodQuestions = {
    PodQuestion{&Use::cores, "container_cpu_usage_seconds_total", true, true},
    PodQuestion{&Use::memory_bytes, "container_memory_working_set_bytes", false, true},
    PodQuestion{&Use::received, "container_network_receive_bytes_total", true, false},
    PodQuestion{&Use::transmitted, "container_network_transmit_bytes_total", true, false},
    PodQuestion{&Use::disk_read, "container_fs_reads_bytes_total", true, true},
    PodQuestion{&Use::disk_written, "container_fs_writes_bytes_total", true, true},
};

/// Series of pods that are named so, and not in a better way too.
std::string selector_of(const PodLabels& labels) {
  std::string selector = fmt::format("{}!=\"\"", labels.pod);
  for (const auto& other : labels.unless) selector += fmt::format(",{}=\"\"", other);
  return selector;
}

/// A container that was started again has two series for some minutes: not both count.
std::string one_of_each(const std::string& series, const PodLabels& labels) {
  return fmt::format("max by ({}, {}, {}, job, metrics_path) ({})", labels.name_space, labels.pod,
                     labels.container, series);
}

/// Two scrapes of the same container, say of a kubelet and of an agent, are not added up: each has
/// a job or a path of its own.
std::string pod_expression(const PodQuestion& question, const PodLabels& labels,
                           std::chrono::seconds window) {
  const std::string pod = fmt::format("{}, {}", labels.name_space, labels.pod);
  std::string selector = selector_of(labels);
  if (question.per_container) selector += fmt::format(",{0}!=\"\",{0}!=\"POD\"", labels.container);
  std::string series = fmt::format("{}{{{}}}", question.name, selector);
  if (question.counter) series = fmt::format("rate({}[{}s])", series, window.count());
  if (question.per_container && !question.counter) series = one_of_each(series, labels);
  if (!question.per_container)
    series = fmt::format("max by ({}, job, metrics_path, interface) ({})", pod, series);
  return fmt::format("max by ({0}) (sum by ({0}, job, metrics_path) ({1}))", pod, series);
}

Result<void> read_pods(Asker& asker, const Sources& sources, Reading& reading) {
  for (const auto& labels : sources.pod_labels) {
    for (const auto& question : kPodQuestions) {
      if (!sources.has(question.name)) continue;
      ASSAY_TRY(const auto values, asker.ask(pod_expression(question, labels, sources.window)));
      for (const auto& value : values) {
        auto& use = reading.pods[{value.label(labels.name_space), value.label(labels.pod)}];
        auto& known = use.*question.answer;
        known = std::max(known.value_or(0), value.value);
      }
    }
  }
  return {};
}

/// As kube-state-metrics has them: of a container without a limit there is nothing.
Result<void> read_spec_limits(Asker& asker, Reading& reading) {
  ASSAY_TRY(
      const auto values,
      asker.ask(R"(sum by (namespace, pod) (kube_pod_container_resource_limits{resource="memory"}))"
                R"( and on (namespace, pod) (count by (namespace, pod))"
                R"( (kube_pod_container_resource_limits{resource="memory"}) == on (namespace, pod))"
                R"( count by (namespace, pod) (kube_pod_container_info)))"));
  for (const auto& value : values) {
    // Only of pods that somebody measures.
    const auto pod = reading.pods.find({value.label("namespace"), value.label("pod")});
    if (pod != reading.pods.end()) pod->second.memory_limit = value.value;
  }
  return {};
}

/// A container without a limit tells 0.
Result<void> read_limits(Asker& asker, const Sources& sources, Reading& reading) {
  if (!sources.has("container_spec_memory_limit_bytes"))
    return sources.has("kube_pod_container_resource_limits") &&
                   sources.has("kube_pod_container_info")
               ? read_spec_limits(asker, reading)
               : Result<void>();
  for (const auto& labels : sources.pod_labels) {
    const std::string series =
        one_of_each(fmt::format("container_spec_memory_limit_bytes{{{0},{1}!=\"\",{1}!=\"POD\"}}",
                                selector_of(labels), labels.container),
                    labels);
    const std::string pod = fmt::format("{}, {}", labels.name_space, labels.pod);
    ASSAY_TRY(
        const auto values,
        asker.ask(fmt::format("max by ({0}) (sum by ({0}, job, metrics_path) ({1})) and on ({0}) "
                              "(min by ({0}) ({1}) > 0)",
                              pod, series)));
    for (const auto& value : values)
      reading.pods[{value.label(labels.name_space), value.label(labels.pod)}].memory_limit =
          value.value;
  }
  return {};
}

struct NodeQuestion {
  std::optional<double> Use::*answer;
  const char* name;
  const char* selector;
  bool counter;
};

/// What a packet or a block passes on its way to a real device: it would be counted twice.
constexpr const char* kVirtualLinks =
    R"(device!~"lo|veth.*|cni.*|flannel.*|cali.*|cilium.*|lxc.*|docker.*|br-.*|kbr.*|bond.*|tunl.*|vxlan.*|virbr.*|dummy.*|ovs.*")";
constexpr const char* kVirtualDisks = R"(device!~"dm-.*|md.*|loop.*|ram.*|zram.*|sr.*")";

constexpr std::array kNodeQuestions = {
    NodeQuestion{&Use::cores, "node_cpu_seconds_total", R"(mode!~"idle|iowait")", true},
    NodeQuestion{&Use::memory_bytes, "node_memory_MemAvailable_bytes", "", false},
    NodeQuestion{&Use::received, "node_network_receive_bytes_total", kVirtualLinks, true},
    NodeQuestion{&Use::transmitted, "node_network_transmit_bytes_total", kVirtualLinks, true},
    NodeQuestion{&Use::disk_read, "node_disk_read_bytes_total", kVirtualDisks, true},
    NodeQuestion{&Use::disk_written, "node_disk_written_bytes_total", kVirtualDisks, true},
};

std::string node_expression(const NodeQuestion& question, std::chrono::seconds window) {
  if (!question.counter) return "node_memory_MemTotal_bytes - node_memory_MemAvailable_bytes";
  return fmt::format(
      "sum by (instance, node, kubernetes_node, kubernetes_io_hostname, nodename, job) "
      "(rate({}{{{}}}[{}s]))",
      question.name, question.selector, window.count());
}

Result<void> read_nodes(Asker& asker, const Sources& sources, NodeOf& node_of, Reading& reading) {
  if (sources.has("node_uname_info")) {
    ASSAY_TRY(const auto names, asker.ask("node_uname_info"));
    for (const auto& name : names) node_of.learn(name.label("instance"), name.label("nodename"));
  }
  for (const auto& question : kNodeQuestions) {
    if (!sources.has(question.name)) continue;
    ASSAY_TRY(const auto values, asker.ask(node_expression(question, sources.window)));
    for (const auto& value : values) {
      const auto node = node_of(value);
      if (node.empty()) continue;
      auto& known = reading.nodes[node].*question.answer;
      known = std::max(known.value_or(0), value.value);
    }
  }
  return {};
}

Result<void> read_progress(Asker& asker, const Sources& sources, Reading& reading) {
  for (const auto& [name, answer] :
       {std::pair("assay_app_step", &Progress::step), {"assay_app_steps", &Progress::steps}}) {
    if (!sources.has(name)) continue;
    ASSAY_TRY(const auto values,
              asker.ask(fmt::format(
                  "max by (namespace, pod, exported_namespace, exported_pod) ({})", name)));
    for (const auto& value : values) {
      const bool exported = !value.label("exported_pod").empty();
      const auto& pod = value.label(exported ? "exported_pod" : "pod");
      const auto& name_space = value.label(exported ? "exported_namespace" : "namespace");
      if (!pod.empty()) reading.progress[{name_space, pod}].*answer = value.value;
    }
  }
  return {};
}

}  // namespace

Result<Reading> read_cluster(promapi::Queries& queries, const Sources& sources,
                             const NodeNames& nodes, net::Stopper* stopper) {
  Reading reading;
  reading.window = sources.window;
  Asker asker(queries, stopper, reading.warnings);
  NodeOf node_of(nodes);
  ASSAY_CHECK(read_pods(asker, sources, reading));
  ASSAY_CHECK(read_limits(asker, sources, reading));
  ASSAY_CHECK(read_nodes(asker, sources, node_of, reading));
  ASSAY_CHECK(read_gpus(asker, sources, node_of, reading));
  ASSAY_CHECK(read_progress(asker, sources, reading));
  ASSAY_CHECK(asker.anybody());
  return reading;
}

}  // namespace assay::cluster
