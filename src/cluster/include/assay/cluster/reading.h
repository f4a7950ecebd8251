// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/promapi/query.h>

namespace assay::cluster {

/// A pod as metrics name it.
struct PodKey {
  std::string name_space;
  std::string name;

  // What is made for it has a 0 that clang-tidy 14 finds.
  auto operator<=>(const PodKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// What is used at one moment. What nobody measures is not there.
struct Use {
  std::optional<double> cores = {};
  std::optional<double> memory_bytes = {};
  std::optional<double> received = {};  ///< from the network, in bytes a second, as all below
  std::optional<double> transmitted = {};
  std::optional<double> disk_read = {};
  std::optional<double> disk_written = {};
  std::optional<double> memory_limit = {};  ///< of a pod whose containers all have one
};

struct GpuUse {
  std::string node;
  std::string index;      ///< "0"; "0.7" of a part of a GPU
  std::string uuid;       ///< of the whole, also for a part
  std::string part = {};  ///< "7": which instance of a GPU that is divided (MIG); empty: the whole
  std::string profile = {};  ///< "1g.10gb": of a part
  std::string model = {};
  std::optional<PodKey> pod = {};          ///< whose it is
  std::optional<double> utilization = {};  ///< 0 to 100
  std::optional<double> memory_used = {};  ///< bytes
  std::optional<double> memory_free = {};
  std::optional<double> watts = {};
  std::optional<double> pcie_generation = {};
  std::optional<double> pcie_width = {};
  std::vector<std::pair<int64_t, double>> processes = {};  ///< pid and bytes
  bool processes_known = false;
};

/// How far a job that reports its steps has come.
struct Progress {
  std::optional<double> step = {};
  std::optional<double> steps = {};  ///< all of them
};

/// The cluster at one moment, as Prometheus tells.
struct Reading {
  std::map<PodKey, Use> pods;
  std::map<std::string, Use> nodes;
  std::vector<GpuUse> gpus;
  std::map<PodKey, Progress> progress;
  Nanoseconds window{0};              ///< that rates are means of
  std::vector<std::string> warnings;  ///< why it may not be all, in Prometheus' words
};

/// How a cluster's pods are named in the labels of its series.
struct PodLabels {
  std::string pod = "pod";
  std::string name_space = "namespace";
  std::string container = "container";
  std::vector<std::string> unless = {};  ///< labels that name it better
};

/// Either tells how busy a GPU is, the first in percent, the second as a share; of parts of a GPU
/// only the second does, and some clusters have it alone.
inline constexpr const char* kGpuUtilization = "DCGM_FI_DEV_GPU_UTIL";
inline constexpr const char* kGpuEngine = "DCGM_FI_PROF_GR_ENGINE_ACTIVE";

/// What a Prometheus has of a cluster; found out, not configured.
struct Sources {
  std::set<std::string> names = {};  ///< of the metrics that we can read and that are there
  /// Both kinds of labels when two exporters have them.
  std::vector<PodLabels> pod_labels = {};
  std::chrono::seconds window{120};  ///< of rates: at least four samples
  double gpu_step_seconds = 15;      ///< between two samples of a GPU

  bool has(const std::string& name) const { return names.contains(name); }
  /// Whether it is known how busy GPUs are.
  bool has_gpus() const { return has(kGpuUtilization) || has(kGpuEngine); }
};

/// Asks which of the metrics that DCGM's exporter, cAdvisor, the kubelet, node_exporter and
/// assay-agent give are there.
Result<Sources> find_sources(promapi::Queries& queries, net::Stopper* stopper);
/// Why a cluster's annotations will lack something; empty: all is there.
std::vector<std::string> missing_sources(const Sources& sources);

/// The names of nodes, since exporters name a node by any of several labels.
using NodeNames = std::set<std::string>;

/// Two or three dozen queries, whatever the size of the cluster. What fails is a warning, unless
/// nothing is answered.
Result<Reading> read_cluster(promapi::Queries& queries, const Sources& sources,
                             const NodeNames& nodes, net::Stopper* stopper);

struct GpuQuestion {
  std::vector<std::string> uuids;
  Timestamp now = {};
  Nanoseconds look_back{std::chrono::hours(2)};
  /// Nothing: as samples come; else means over so long.
  std::optional<Nanoseconds> step = {};
};
/// Values in percent and in even steps, NaN where one is missing, by uuid and part.
using GpuSeries = std::map<std::pair<std::string, std::string>, std::vector<double>>;
/// The utilization over a time of GPUs and of their parts.
Result<GpuSeries> read_gpu_series(promapi::Queries& queries, const Sources& sources,
                                  const GpuQuestion& question, net::Stopper* stopper);

}  // namespace assay::cluster
