// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include <assay/base/text.h>
#include <assay/cluster/reading.h>

namespace assay::cluster {
namespace {

using promapi::InstantValue;

constexpr double kMebi = 1024.0 * 1024;
/// DCGM's words for "no value", and all beyond.
constexpr double kBlank = 9.2e18;

/// Asks one thing after another and gathers the warnings.
class Asker {
 public:
  Asker(promapi::Queries& queries, net::Stopper* stopper, std::vector<std::string>& warnings)
      : queries_(queries), stopper_(stopper), warnings_(warnings) {}

  /// A question that fails has no answer; only when the first few all fail, nobody is there.
  Result<std::vector<InstantValue>> ask(const std::string& expression) {
    auto answer = queries_.instant(expression, stopper_);
    if (!answer) {
      if (!answered_ && ++failed_ >= kMostFailures) return fail(answer.error());
      last_ = answer.error();
      warn(answer.error().message);
      return std::vector<InstantValue>();
    }
    answered_ = true;
    for (auto& warning : answer->warnings) warn(std::move(warning));
    auto& series = answer->series;
    std::erase_if(series, [](const InstantValue& v) {
      return !std::isfinite(v.value) || std::abs(v.value) > kBlank;
    });
    return std::move(series);
  }
  /// An error when not a single question had an answer.
  Result<void> anybody() const {
    return last_ && !answered_ ? Result<void>(fail(*last_)) : Result<void>();
  }

 private:
  static constexpr int kMostFailures = 3;

  void warn(std::string warning) {
    if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end())
      warnings_.push_back(std::move(warning));
  }

  promapi::Queries& queries_;
  net::Stopper* const stopper_;
  std::vector<std::string>& warnings_;
  bool answered_ = false;
  int failed_ = 0;
  std::optional<Error> last_;
};

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
                           const std::string& window) {
  const std::string pod = fmt::format("{}, {}", labels.name_space, labels.pod);
  std::string selector = selector_of(labels);
  if (question.per_container) selector += fmt::format(",{0}!=\"\",{0}!=\"POD\"", labels.container);
  std::string series = fmt::format("{}{{{}}}", question.name, selector);
  if (question.counter) series = fmt::format("rate({}[{}])", series, window);
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

std::string node_expression(const NodeQuestion& question, const std::string& window) {
  if (!question.counter) return "node_memory_MemTotal_bytes - node_memory_MemAvailable_bytes";
  return fmt::format(
      "sum by (instance, node, kubernetes_node, kubernetes_io_hostname, nodename, job) "
      "(rate({}{{{}}}[{}]))",
      question.name, question.selector, window);
}

/// Which of the labels names a node: exporters and their relabelling differ. Empty: none does.
class NodeOf {
 public:
  explicit NodeOf(const NodeNames& nodes) : nodes_(nodes) {}

  /// What node_uname_info says of an instance.
  void learn(const std::string& instance, const std::string& name) {
    by_instance_[instance] = name;
  }

  std::string operator()(const InstantValue& value) const {
    for (const char* label : {"Hostname", "node", "kubernetes_node", "kubernetes_io_hostname",
                              "nodename", "instance"}) {
      const auto& name = value.label(label);
      if (!name.empty() && nodes_.contains(name)) return name;
    }
    const auto& instance = value.label("instance");
    if (const auto known = by_instance_.find(instance);
        known != by_instance_.end() && nodes_.contains(known->second))
      return known->second;
    const auto host = instance.substr(0, instance.rfind(':'));
    return nodes_.contains(host) ? host : "";
  }

 private:
  const NodeNames& nodes_;
  std::map<std::string, std::string> by_instance_;
};

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

/// Where Prometheus has put its own labels over those of the exporter, the latter are "exported".
std::optional<PodKey> pod_of_gpu(const InstantValue& value) {
  const auto& exported = value.label("exported_pod");
  if (!exported.empty()) return PodKey{value.label("exported_namespace"), exported};
  const auto& pod = value.label("pod");
  // An exporter's own pod is that of its target, and uses no GPU.
  constexpr const char* kExporter = "dcgm-exporter";
  if (pod.empty() || pod.find(kExporter) != std::string::npos ||
      value.label("container").find(kExporter) != std::string::npos)
    return std::nullopt;
  return PodKey{value.label("namespace"), pod};
}

std::string index_of(const InstantValue& value) {
  const auto& part = value.label("GPU_I_ID");
  return part.empty() ? value.label("gpu") : value.label("gpu") + "." + part;
}

constexpr const char* kGpuLabels =
    "gpu, UUID, GPU_I_ID, GPU_I_PROFILE, modelName, Hostname, node, kubernetes_node, instance, "
    "pod, namespace, container, exported_pod, exported_namespace";

/// How busy GPUs are, in percent: each by the first of the two metrics that it has. `matchers` are
/// of labels; with `over` means over so long.
std::string busy_expression(const Sources& sources, const std::string& matchers = "",
                            const std::string& over = "") {
  const auto series = [&](const char* name, const std::string& more = "") {
    const std::string all = matchers + (matchers.empty() || more.empty() ? "" : ",") + more;
    const std::string chosen = all.empty() ? name : fmt::format("{}{{{}}}", name, all);
    return over.empty() ? chosen : fmt::format("avg_over_time({}[{}])", chosen, over);
  };
  if (!sources.has(kGpuEngine)) return series(kGpuUtilization);
  if (!sources.has(kGpuUtilization)) return "100 * " + series(kGpuEngine);
  // More than 100 is one of DCGM's words for "no value".
  return fmt::format("{} <= 100 or on (UUID, GPU_I_ID) 100 * {}",
                     series(kGpuUtilization, R"(GPU_I_ID="")"), series(kGpuEngine));
}

struct GpuQuestionOf {
  std::optional<double> GpuUse::*answer;
  const char* name;
  double factor;
};
constexpr std::array kGpuQuestions = {
    GpuQuestionOf{&GpuUse::memory_used, "DCGM_FI_DEV_FB_USED", kMebi},
    GpuQuestionOf{&GpuUse::memory_free, "DCGM_FI_DEV_FB_FREE", kMebi},
    GpuQuestionOf{&GpuUse::watts, "DCGM_FI_DEV_POWER_USAGE", 1},
    GpuQuestionOf{&GpuUse::pcie_generation, "DCGM_FI_DEV_PCIE_LINK_GEN", 1},
    GpuQuestionOf{&GpuUse::pcie_width, "DCGM_FI_DEV_PCIE_LINK_WIDTH", 1},
};

using GpusByUuid = std::multimap<std::string, size_t>;

/// A part of a GPU has the uuid of the whole.
std::string gpu_key(const InstantValue& value) {
  return value.label("UUID") + "/" + value.label("GPU_I_ID");
}

Result<void> read_processes(Asker& asker, const GpusByUuid& by_uuid, Reading& reading) {
  ASSAY_TRY(const auto values, asker.ask("assay_gpu_process_memory_bytes"));
  for (auto& gpu : reading.gpus) gpu.processes_known = true;
  for (const auto& value : values) {
    const auto pid = parse_int(value.label("pid"));
    const auto [first, last] = by_uuid.equal_range(gpu_key(value));
    for (auto at = first; pid && at != last; ++at)
      reading.gpus[at->second].processes.emplace_back(*pid, value.value);
  }
  return {};
}

Result<void> read_gpus(Asker& asker, const Sources& sources, const NodeOf& node_of,
                       Reading& reading) {
  if (!sources.has_gpus()) return {};
  ASSAY_TRY(const auto utilization,
            asker.ask(fmt::format("max by ({}) ({})", kGpuLabels, busy_expression(sources))));
  GpusByUuid by_uuid;
  for (const auto& value : utilization) {
    auto node = node_of(value);
    if (node.empty()) node = value.label("Hostname");
    // A percentage beyond is one of DCGM's words for "no value".
    if (node.empty() || index_of(value).empty() || !(value.value >= 0 && value.value <= 100))
      continue;
    by_uuid.emplace(gpu_key(value), reading.gpus.size());
    reading.gpus.push_back({.node = std::move(node),
                            .index = index_of(value),
                            .uuid = value.label("UUID"),
                            .part = value.label("GPU_I_ID"),
                            .profile = value.label("GPU_I_PROFILE"),
                            .model = value.label("modelName"),
                            .pod = pod_of_gpu(value),
                            .utilization = value.value});
  }
  for (const auto& question : kGpuQuestions) {
    if (!sources.has(question.name)) continue;
    ASSAY_TRY(const auto values,
              asker.ask(fmt::format("max by (UUID, GPU_I_ID) ({})", question.name)));
    for (const auto& value : values) {
      const auto [first, last] = by_uuid.equal_range(gpu_key(value));
      for (auto at = first; at != last; ++at)
        reading.gpus[at->second].*question.answer = value.value * question.factor;
    }
  }
  if (!sources.has("assay_gpu_process_memory_bytes")) return {};
  return read_processes(asker, by_uuid, reading);
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

Result<GpuSeries> read_gpu_series(promapi::Queries& queries, const Sources& sources,
                                  const GpuQuestion& question, net::Stopper* stopper) {
  std::string any;
  for (const auto& uuid : question.uuids) any += (any.empty() ? "" : "|") + uuid;
  const auto step = question.step.value_or(from_seconds(sources.gpu_step_seconds));
  const auto expression =
      busy_expression(sources, fmt::format("UUID=~\"{}\"", any),
                      question.step ? fmt::format("{:.0f}s", seconds(*question.step)) : "");
  const promapi::QueryRange range{question.now - question.look_back, question.now, step};
  ASSAY_TRY(const auto answer,
            queries.range(fmt::format("max by (UUID, GPU_I_ID) ({})", expression), range, stopper));
  const auto steps = static_cast<size_t>(question.look_back / step) + 1;
  GpuSeries found;
  for (const auto& series : answer.series) {
    const auto uuid = series.labels.find("UUID");
    if (uuid == series.labels.end() || series.samples.empty()) continue;
    std::vector<double> values(steps, std::numeric_limits<double>::quiet_NaN());
    size_t first = steps;
    for (const auto& [time, value] : series.samples) {
      const auto at = static_cast<size_t>((time - range.from + step / 2) / step);
      if (at >= steps || !(value >= 0 && value <= 100)) continue;
      values[at] = value;
      first = std::min(first, at);
    }
    // It may be younger than what was asked for.
    values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(first));
    const auto part = series.labels.find("GPU_I_ID");
    found[{uuid->second, part == series.labels.end() ? "" : part->second}] = std::move(values);
  }
  return found;
}

}  // namespace assay::cluster
