// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::kubeapi {

/// A kind of objects as the API server serves it, also one that an operator brought.
struct Resource {
  std::string group = {};  ///< "batch"; empty: of the core
  std::string version = "v1";
  std::string plural = {};  ///< "jobs"
  std::string kind = {};    ///< "Job"
  bool namespaced = true;

  bool operator==(const Resource&) const = default;
  /// "v1", "batch/v1".
  std::string api_version() const;
  /// "pods", "jobs.batch": as roles and messages name it.
  std::string name() const;
};

Resource pods();
Resource nodes();
Resource jobs();
Resource leases();

/// One object. A uid makes sure that no other one of the same name is meant.
struct ObjectName {
  Resource resource = {};
  std::string name_space = {};  ///< empty: it is in none
  std::string name = {};
  std::string uid = {};  ///< empty: whichever has the name

  bool operator==(const ObjectName&) const = default;
};

/// Where the objects of a namespace are; of all of them when it is empty.
std::string collection_path(const Resource& resource, const std::string& name_space);
/// An error where names cannot be names: those of owners are written by anybody.
Result<std::string> object_path(const ObjectName& object);

/// Whoever made an object: a Job, a ReplicaSet, an MPIJob.
struct Owner {
  std::string kind = {};
  std::string name = {};
  std::string uid = {};
  std::string api_version = {};  ///< "batch/v1"
  bool controller = false;       ///< at most one of an object's owners is

  bool operator==(const Owner&) const = default;
};

/// The one that made an object: its controller, or the first of its owners, since some who make
/// objects do not say so. Null: nobody did.
const Owner* maker_of(const std::vector<Owner>& owners);

/// What all objects have. Labels and annotations whose value is very long are left out, here and in
/// pods and nodes.
struct ObjectMeta {
  std::string name = {};
  std::string name_space = {};
  std::string uid = {};
  std::string version = {};  ///< the server's resourceVersion
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> annotations = {};
  std::vector<Owner> owners = {};
  std::optional<Timestamp> created = {};
  std::optional<Timestamp> deleted = {};  ///< since when it is being deleted

  bool operator==(const ObjectMeta&) const = default;
};

/// How much of what: "cpu" in cores, "memory" in bytes, "nvidia.com/gpu" in pieces.
using Amounts = std::map<std::string, double>;

struct PodContainer {
  std::string name = {};
  std::string id = {};  ///< in 64 digits; empty: not started yet
  std::string image = {};
  bool prepares = false;  ///< ends before the others begin
  Amounts extended = {};  ///< what it has for itself of resources like "nvidia.com/gpu"
  double cores = 0;       ///< that it asks for

  bool operator==(const PodContainer&) const = default;
};

enum class PodPhase : uint8_t { unknown, pending, running, succeeded, failed };

struct Pod {
  std::string name = {};
  std::string name_space = {};
  std::string uid = {};
  std::string node = {};  ///< empty: none yet
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> annotations = {};
  std::vector<PodContainer> containers = {};  ///< also those that prepare the pod
  std::vector<Owner> owners = {};
  std::string version = {};
  PodPhase phase = PodPhase::unknown;
  bool host_network = false;  ///< it has its node's: what it sends cannot be told apart
  std::optional<Timestamp> created = {};
  /// When the first of its containers began; where one was started again, when its node took it.
  /// Nothing: it waits.
  std::optional<Timestamp> started = {};
  std::optional<Timestamp> deleted = {};

  bool operator==(const Pod&) const = default;
};

/// What the scheduler counts for a pod: its containers together, or more while it is prepared. Of
/// "cpu" and of resources like "nvidia.com/gpu"; others are not known here.
double requested_of(const Pod& pod, const std::string& resource);

/// By which a node keeps pods away that do not tolerate it.
struct Taint {
  std::string key = {};
  std::string effect = {};  ///< "NoSchedule", "PreferNoSchedule" or "NoExecute"

  bool operator==(const Taint&) const = default;
};

struct Node {
  std::string name = {};
  std::string uid = {};
  std::string version = {};
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> annotations = {};
  Amounts capacity = {};
  Amounts allocatable = {};
  bool ready = false;
  bool unschedulable = false;  ///< somebody wants no more pods on it
  std::vector<Taint> taints = {};

  bool operator==(const Node&) const = default;
};

}  // namespace assay::kubeapi
