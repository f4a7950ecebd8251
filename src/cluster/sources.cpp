// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string>
#include <utility>

#include <assay/cluster/reading.h>

namespace assay::cluster {
namespace {

constexpr std::array kNames = {
    kGpuUtilization,
    kGpuEngine,
    "DCGM_FI_DEV_FB_USED",
    "DCGM_FI_DEV_FB_FREE",
    "DCGM_FI_DEV_POWER_USAGE",
    "DCGM_FI_DEV_PCIE_LINK_GEN",
    "DCGM_FI_DEV_PCIE_LINK_WIDTH",
    "assay_gpu_process_memory_bytes",
    "container_cpu_usage_seconds_total",
    "container_memory_working_set_bytes",
    "container_spec_memory_limit_bytes",
    "container_network_receive_bytes_total",
    "container_network_transmit_bytes_total",
    "container_fs_reads_bytes_total",
    "container_fs_writes_bytes_total",
    "node_cpu_seconds_total",
    "node_memory_MemAvailable_bytes",
    "node_memory_MemTotal_bytes",
    "node_network_receive_bytes_total",
    "node_network_transmit_bytes_total",
    "node_disk_read_bytes_total",
    "node_disk_written_bytes_total",
    "node_uname_info",
    "kube_pod_container_info",
    "kube_pod_container_resource_limits",
    "assay_app_step",
    "assay_app_steps",
};

constexpr const char* kOldPod = "container_label_io_kubernetes_pod_name";
constexpr const char* kExportedPod = "exported_pod";

/// The kubelet's labels; the same where Prometheus has put a target's own over them; and those of
/// a cAdvisor that stands alone, whose own pod may be in the labels of the first kind.
const std::array kPodLabels = {
    PodLabels{.unless = {kOldPod, kExportedPod}},
    PodLabels{kExportedPod, "exported_namespace", "exported_container", {kOldPod}},
    PodLabels{kOldPod, "container_label_io_kubernetes_pod_namespace",
              "container_label_io_kubernetes_container_name"},
};

constexpr double kShortestStep = 1, kLongestStep = 60;

/// A value of a query that gives one number; 0 when it gives none.
Result<double> number(promapi::Queries& queries, const std::string& expression,
                      net::Stopper* stopper) {
  ASSAY_TRY(const auto answer, queries.instant(expression, stopper));
  return answer.series.empty() ? 0 : answer.series.front().value;
}

/// Series that are named in a better way are of that one.
std::string without(const PodLabels& labels) {
  std::string selector;
  for (const auto& other : labels.unless) selector += fmt::format(",{}=\"\"", other);
  return selector;
}

/// By the last minute; where that has too few samples, by more.
Result<double> gpu_step(promapi::Queries& queries, const Sources& sources, net::Stopper* stopper) {
  constexpr double kFewest = 4;
  const char* const name = sources.has(kGpuUtilization) ? kGpuUtilization : kGpuEngine;
  for (const auto& [minutes, fewest] : {std::pair(1, kFewest), std::pair(5, 2.0)}) {
    ASSAY_TRY(
        const double count,
        number(queries, fmt::format("max(count_over_time({}[{}m]))", name, minutes), stopper));
    if (count >= fewest)
      return std::clamp(std::round(60 * minutes / count), kShortestStep, kLongestStep);
  }
  return sources.gpu_step_seconds;
}

}  // namespace

Result<Sources> find_sources(promapi::Queries& queries, net::Stopper* stopper) {
  std::string any;
  for (const char* name : kNames) any += (any.empty() ? "" : "|") + std::string(name);
  ASSAY_TRY(
      const auto found,
      queries.instant(fmt::format("count by (__name__) ({{__name__=~\"{}\"}})", any), stopper));
  Sources sources;
  for (const auto& series : found.series) sources.names.insert(series.label("__name__"));
  if (sources.has("container_cpu_usage_seconds_total")) {
    for (const auto& labels : kPodLabels) {
      ASSAY_TRY(const double count,
                number(queries,
                       fmt::format("count(container_cpu_usage_seconds_total{{{}!=\"\"{}}})",
                                   labels.pod, without(labels)),
                       stopper));
      if (count > 0) sources.pod_labels.push_back(labels);
    }
  }
  // By how often most targets are scraped.
  ASSAY_TRY(const double scrapes,
            number(queries, "quantile(0.5, count_over_time(up[10m]))", stopper));
  if (scrapes > 1)
    sources.window = std::chrono::seconds(std::lround(std::clamp(4 * 600 / scrapes, 120.0, 900.0)));
  if (sources.has_gpus()) {
    ASSAY_TRY(sources.gpu_step_seconds, gpu_step(queries, sources, stopper));
  }
  return sources;
}

std::vector<std::string> missing_sources(const Sources& sources) {
  std::vector<std::string> missing;
  if (!sources.has_gpus())
    missing.emplace_back(
        "nothing of GPUs (DCGM_FI_DEV_GPU_UTIL): run NVIDIA's dcgm-exporter on GPU nodes and let "
        "Prometheus scrape it");
  if (sources.pod_labels.empty())
    missing.emplace_back(
        "nothing of pods (container_cpu_usage_seconds_total): let Prometheus scrape assay-agent, "
        "or "
        "the kubelets at /metrics/cadvisor");
  if (!sources.has("node_cpu_seconds_total"))
    missing.emplace_back(
        "nothing of nodes (node_cpu_seconds_total): let Prometheus scrape assay-agent or "
        "node_exporter");
  return missing;
}

}  // namespace assay::cluster
