// SPDX-License-Identifier: Apache-2.0
#include "gpu_reading.h"

#include <array>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include <assay/base/text.h>

namespace assay::cluster {
namespace {

constexpr double kMebi = 1024.0 * 1024;

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
  double most;  ///< beyond it is one of DCGM's words for "no value", 2^47 or larger by version
};
constexpr std::array kGpuQuestions = {
    GpuQuestionOf{&GpuUse::memory_used, "DCGM_FI_DEV_FB_USED", kMebi, 1e8},
    GpuQuestionOf{&GpuUse::memory_free, "DCGM_FI_DEV_FB_FREE", kMebi, 1e8},
    GpuQuestionOf{&GpuUse::watts, "DCGM_FI_DEV_POWER_USAGE", 1, 1e6},
    GpuQuestionOf{&GpuUse::pcie_generation, "DCGM_FI_DEV_PCIE_LINK_GEN", 1, 100},
    GpuQuestionOf{&GpuUse::pcie_width, "DCGM_FI_DEV_PCIE_LINK_WIDTH", 1, 100},
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

}  // namespace

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
      if (value.value > question.most) continue;
      const auto [first, last] = by_uuid.equal_range(gpu_key(value));
      for (auto at = first; at != last; ++at)
        reading.gpus[at->second].*question.answer = value.value * question.factor;
    }
  }
  if (!sources.has("assay_gpu_process_memory_bytes")) return {};
  return read_processes(asker, by_uuid, reading);
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
