// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/cluster/trial_choices.h>
#include <assay/kubeapi/discovery.h>
#include <assay/kubeapi/objects.h>

namespace assay::cluster {

/// On every object that trials make, and on its pods; its value is the name of the trial.
constexpr const char* kTrialLabel = "assay.trial";
/// The name of the one copy that a pod belongs to.
constexpr const char* kCopyLabel = "assay.trial.copy";
/// Annotations of a copy: the process that made it, on which machine, and after how many seconds
/// the cluster ends it.
constexpr const char* kTrialOwner = "assay.dev/owner";
constexpr const char* kTrialMachine = "assay.dev/machine";
constexpr const char* kTrialDeadline = "assay.dev/deadline-seconds";
/// In every container of a trial: how many GPUs it has in all, and in how many pods.
constexpr const char* kTrialGpus = "ASSAY_TRIAL_GPUS";
constexpr const char* kTrialWorkers = "ASSAY_TRIAL_WORKERS";

/// What is tried: a Pod, a Job, an MPIJob or a PyTorchJob.
struct TrialSource {
  kubeapi::KindName kind = {};
  std::string name = {};
  std::string name_space = {};  ///< empty: it does not say
  std::string json = {};
};
/// Of a manifest in YAML or JSON, also as a cluster gives it; `file` is for messages.
Result<TrialSource> read_trial_source(const std::string& text, const std::string& file);

/// "-np 8": words of its command that fix how many processes it starts, whatever a choice gives it;
/// empty when there are none.
std::string fixed_processes(const TrialSource& source);

struct CopySettings {
  std::string trial = {};       ///< its name
  std::string name_space = {};  ///< where it runs
  std::string resource = "nvidia.com/gpu";
  std::string node_label = "nvidia.com/gpu.product";  ///< of nodes: which kind they have
  std::string priority_class = {};                    ///< empty: "assay-trial" where it is there
  bool shares_nodes = true;           ///< false: not with pods of other trials of this namespace
  Nanoseconds deadline{};             ///< after which the cluster itself ends it
  kubeapi::ObjectName original = {};  ///< owns the copy when it has a uid
  std::string owner = {};             ///< the process that will remove it, as text; empty: nobody
  std::string machine = {};           ///< where that runs
};

struct TrialCopy {
  std::string name = {};
  std::string manifest = {};  ///< JSON
  double workers = 1;         ///< pods that have GPUs
  double each = 1;            ///< GPUs of each of them
  double pods = 1;            ///< also those without
};

/// A short copy for one choice: other name, place and number, a deadline, no second try, nothing of
/// the original's state, labels by which services and controllers would take its pods, or priority.
/// Where the original has several workers, each keeps its number of GPUs and their number changes,
/// if the choice can be divided so; else one pod has them all. `number` makes names differ.
Result<TrialCopy> make_trial_copy(const TrialSource& source, const Choice& choice,
                                  const CopySettings& settings, uint64_t number);

}  // namespace assay::cluster
