// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns.h"
#include "ring.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <assay/analysis/outlook.h>
#include <assay/cluster/reading.h>
#include <assay/cluster/usage.h>
#include <assay/kubeapi/objects.h>

namespace assay::cluster {

/// Of two that may be known.
std::optional<double> sum(const std::optional<double>& a, const std::optional<double>& b);

/// What is told of one object's use: processor in cores, the others in bytes (a second).
struct Uses {
  Usage cores;
  Usage memory;
  Usage network;
  Usage disk;

  void add(const Use& use);
  void precede(const Uses& before);
  void reconcile(const Uses& other);
};

/// What was last written to an object, to tell how much has changed since.
struct Published {
  std::vector<float> figures = {};
  uint64_t facts = 0;
  std::optional<Timestamp> at = {};
  double score = 0;                         ///< how much has changed since; 1 and more is material
  std::optional<Timestamp> due = {};        ///< since when it is waited for
  bool failed = false;                      ///< no answer, or no right: others come first
  std::optional<Timestamp> forbidden = {};  ///< when it was, by the last try
};

/// What was found out about a pod or a job, beside what it uses.
struct Findings {
  std::optional<Pattern> pattern = {};
  std::string kind = {};  ///< of job; empty: not known
  double kind_confidence = 0;
  std::string evidence = {};
  std::optional<analysis::Outlook> memory_full = {};
  std::optional<analysis::Outlook> finish = {};

  /// Takes class and kind from what was found before, where nothing is found now.
  void keep(const Findings& before);
};

struct GpuState {
  GpuUse now;
  Usage utilization;   ///< percent
  Usage memory_share;  ///< percent
  std::optional<Pattern> pattern = {};
  Timestamp seen = {};
};

struct NodeState {
  kubeapi::ObjectName object = {};
  std::map<std::string, std::string> gpu_labels = {};  ///< those of nvidia.com/
  double gpu_count = 0;                                ///< as the cluster counts them
  double cores_count = 0;                              ///< 0: not known
  Use now = {};
  Uses uses = {};
  Ring cores = {};                            ///< what was used of them, a value a round
  std::optional<Pattern> pattern = {};        ///< of its cores
  std::map<std::string, GpuState> gpus = {};  ///< by index
  Published published = {};
  bool read_back = false;  ///< the history was asked what was used before
};

/// "node-1-gpu-0": how annotations name a GPU of a node.
std::string gpu_name(const std::string& node, const std::string& index);

/// A GPU that a pod has, or had.
struct PodGpu {
  std::string node = {};
  std::string index = {};
  Usage utilization = {};
  Usage memory_share = {};
  double most_memory = 0;  ///< bytes
  bool now = false;
};

/// The series by which the kind of a job is told, one value a round.
struct PodSeries {
  Ring cores, memory, read, written, received, transmitted, gpu, gpu_memory;
};

struct PodState {
  kubeapi::ObjectName object = {};
  std::string node = {};
  std::string job = {};  ///< uid; empty: it belongs to none
  bool over = false;
  bool failed = false;
  bool job_there = false;     ///< what made it, in this round
  Timestamp over_since = {};  ///< as far as that is known
  bool is_heir = false;       ///< another had its name just before: rates are of both
  Use now = {};
  std::optional<double> memory_limit = {};
  Uses uses = {};
  std::vector<PodGpu> gpus = {};
  PodSeries series = {};
  std::vector<analysis::StepReport> steps = {};
  std::optional<double> all_steps = {};
  Findings findings = {};
  std::optional<Timestamp> started = {};  ///< by our clock; nothing: it waits
  Timestamp first = {};
  Timestamp last = {};
  Published published = {};
  bool read_back = false;
};

/// What is kept of a pod.
struct PodRecord {
  kubeapi::ObjectName object = {};
  std::string node = {};
  std::string job = {};
  Uses uses = {};
  std::vector<PodGpu> gpus = {};
  Findings findings = {};  ///< kept of them: class, kind and its evidence
  Timestamp first = {};
  Timestamp last = {};
  bool read_back = false;
};
PodRecord record_of(const PodState& pod);

/// What a worker of a job used at most; kept when it is gone. What nobody measured is not there.
struct WorkerMost {
  std::optional<double> cores = {};
  std::optional<double> memory = {};
  std::optional<double> network = {};
  std::optional<double> disk = {};
  std::map<std::string, std::pair<double, double>> gpus = {};  ///< "node-gpu-0": percent and bytes
  Timestamp last = {};
};

struct JobState {
  kubeapi::ObjectName object = {};
  std::map<std::string, WorkerMost> workers = {};
  Uses uses = {};               ///< of all its workers together
  Usage gpu_utilization = {};   ///< percent, the mean of its GPUs
  Usage gpu_memory_share = {};  ///< likewise
  Usage gpus = {};              ///< how many it had
  Findings findings = {};
  std::string trial = {};    ///< of which it is a short copy; empty: of none
  std::string cluster = {};  ///< that it was seen in, by History::set_cluster(); empty: not known
  Timestamp first = {};
  Timestamp last = {};   ///< that it was seen at work; 0: never
  bool gone = false;     ///< deleted, or over
  bool ended = false;    ///< for good, as it says itself
  Timestamp asked = {};  ///< about that
  bool unsaved = false;  ///< the history does not have it as it is
  Published published = {};
  bool read_back = false;
};

}  // namespace assay::cluster
