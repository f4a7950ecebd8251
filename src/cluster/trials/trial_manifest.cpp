// SPDX-License-Identifier: Apache-2.0
#include "manifest_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/base/wording.h>
#include <assay/cluster/trial_manifest.h>
#include <assay/kubeapi/names.h>

namespace assay::cluster {
namespace {

using Json = nlohmann::json;

constexpr int64_t kKeptSeconds = 60;  ///< after its end, where the cluster cleans up
constexpr int64_t kGraceSeconds = 5;
/// Operators put "-worker-0" and more behind it, and all of it has to be a host's name.
constexpr size_t kLongestName = 36;

const Json& at(const Json& json, const char* key) {
  static const Json kNothing;
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() ? *found : kNothing;
}
std::string text_at(const Json& json, const char* key) {
  const Json& value = at(json, key);
  return value.is_string() ? value.get<std::string>() : "";
}
/// The map under a key, made if it is none.
Json& map_at(Json& json, const std::string& key) {
  Json& value = json[key];
  if (!value.is_object()) value = Json::object();
  return value;
}

/// "2", 2, "500m"; 0 for what is none.
double amount_of(const Json& quantity) {
  if (quantity.is_number()) return quantity.get<double>();
  if (!quantity.is_string()) return 0;
  std::string text = quantity.get<std::string>();
  const bool thousandths = text.ends_with('m');
  if (thousandths) text.pop_back();
  return parse_double(text).value_or(0) / (thousandths ? 1000 : 1);
}

/// Labels by which services and controllers know their pods are no business of a trial; those of
/// other systems, as of queues, are kept.
bool is_kept_label(const std::string& key) {
  const size_t slash = key.find('/');
  if (slash == key.npos) return false;
  const std::string domain = key.substr(0, slash);
  constexpr std::array<std::string_view, 3> kOwn = {"app.kubernetes.io", "batch.kubernetes.io",
                                                    "training.kubeflow.org"};
  return std::find(kOwn.begin(), kOwn.end(), domain) == kOwn.end();
}
bool is_kept_annotation(const std::string& key) {
  return !key.starts_with("kubectl.kubernetes.io/") && !key.starts_with("ai.centaurus.io/") &&
         !key.starts_with("assay.");
}

/// All of a metadata that may stay, with the trial's label.
Json clean_metadata(const Json& old, const std::string& trial, const std::string& copy) {
  Json labels = Json::object(), annotations = Json::object();
  for (const auto& [key, value] : at(old, "labels").items())
    if (is_kept_label(key)) labels[key] = value;
  for (const auto& [key, value] : at(old, "annotations").items())
    if (is_kept_annotation(key)) annotations[key] = value;
  labels[kTrialLabel] = trial;
  labels[kCopyLabel] = copy;
  Json metadata = {{"labels", labels}};
  if (!annotations.empty()) metadata["annotations"] = annotations;
  return metadata;
}

Json* container_of(Json& pod_spec, const std::string& resource) {
  Json& containers = pod_spec["containers"];
  if (!containers.is_array() || containers.empty() || !containers[0].is_object()) return nullptr;
  for (auto& container : containers)
    for (const char* part : {"limits", "requests"})
      if (at(at(container, "resources"), part).contains(resource)) return &container;
  return &containers[0];
}

double resource_of(Json& pod_spec, const std::string& resource) {
  Json* container = container_of(pod_spec, resource);
  if (container == nullptr) return 0;
  const Json& resources = at(*container, "resources");
  const double limit = amount_of(at(at(resources, "limits"), resource.c_str()));
  return limit > 0 ? limit : amount_of(at(at(resources, "requests"), resource.c_str()));
}

void set_env(Json& container, const char* name, const std::string& value) {
  Json& list = container["env"];
  if (!list.is_array()) list = Json::array();
  for (auto& entry : list) {
    if (text_at(entry, "name") != name) continue;
    entry = {{"name", name}, {"value", value}};
    return;
  }
  list.push_back({{"name", name}, {"value", value}});
}

class Copier {
 public:
  Copier(const TrialSource& source, const Choice& choice, const CopySettings& settings)
      : source_(source), choice_(choice), settings_(settings) {}

  Result<TrialCopy> copy(uint64_t number) {
    Json object = Json::parse(source_.json, nullptr, false);
    TrialCopy copy{.name = name_with(number), .each = choice_.count};
    Json metadata = clean_metadata(at(object, "metadata"), settings_.trial, copy.name);
    metadata["name"] = copy.name;
    metadata["namespace"] = settings_.name_space;
    add_owner(metadata);
    add_maker(metadata);
    Json spec = at(object, "spec");
    if (!spec.is_object()) return bad_input("it has no spec");
    object = {{"apiVersion", object["apiVersion"]},
              {"kind", object["kind"]},
              {"metadata", std::move(metadata)}};
    ASSAY_CHECK(change(spec, copy));
    object["spec"] = std::move(spec);
    copy.manifest = object.dump(-1, ' ', false, Json::error_handler_t::replace);
    return copy;
  }

 private:
  std::string name_with(uint64_t number) const {
    std::string base = source_.name.substr(0, kLongestName);
    while (!base.empty() && !std::isalnum(static_cast<unsigned char>(base.back()))) base.pop_back();
    std::replace(base.begin(), base.end(), '.', '-');
    return fmt::format("{}-trial-{:06x}", base, number & 0xFFFFFFU);
  }

  void add_owner(Json& metadata) const {
    const auto& owner = settings_.original;
    if (owner.uid.empty() || owner.name_space != settings_.name_space) return;
    metadata["ownerReferences"] = Json::array({{{"apiVersion", owner.resource.api_version()},
                                                {"kind", owner.resource.kind},
                                                {"name", owner.name},
                                                {"uid", owner.uid},
                                                {"controller", false}}});
  }

  /// Pods of a Job have none: they go with it.
  void add_maker(Json& metadata) const {
    if (settings_.owner.empty()) return;
    Json& annotations = map_at(metadata, "annotations");
    annotations[kTrialOwner] = settings_.owner;
    annotations[kTrialMachine] = settings_.machine;
    annotations[kTrialDeadline] = fmt::to_string(deadline());
  }

  Result<void> change(Json& spec, TrialCopy& copy) {
    if (source_.kind.kind == "Pod") return change_pod(spec, copy, true);
    if (source_.kind.kind == "Job") return change_job(spec, copy);
    return change_replicas(spec, copy);
  }

  /// Divides the choice among workers of the size that they have.
  void divide(double original_each, bool several, TrialCopy& copy) const {
    const double workers = original_each > 0 ? choice_.count / original_each : 0;
    const bool divides = workers >= 1 && std::abs(workers - std::round(workers)) < 1e-9;
    copy.workers = several && divides ? std::round(workers) : 1;
    copy.each = choice_.count / copy.workers;
  }

  Result<void> change_job(Json& spec, TrialCopy& copy) {
    for (const char* gone : {"selector", "manualSelector", "suspend", "podFailurePolicy"})
      spec.erase(gone);
    Json& pod = map_at(map_at(spec, "template"), "spec");
    const Json& parallelism = at(spec, "parallelism");
    const bool several = parallelism.is_number_integer() && parallelism.get<int64_t>() > 1;
    divide(resource_of(pod, settings_.resource), several, copy);
    const auto workers = static_cast<int64_t>(copy.workers);
    spec["parallelism"] = workers;
    spec["completions"] = workers;
    bound(spec);
    copy.pods = copy.workers;
    return change_template(spec["template"], copy, true);
  }

  /// MPIJob and PyTorchJob: replicas by role, of which the launcher has no GPUs.
  Result<void> change_replicas(Json& spec, TrialCopy& copy) {
    const bool mpi = source_.kind.kind == "MPIJob";
    const char* const key = mpi ? "mpiReplicaSpecs" : "pytorchReplicaSpecs";
    if (!at(spec, key).is_object()) return bad_input(fmt::format("it has no {}", key));
    Json& roles = spec[key];
    const char* const worker = roles.contains("Worker") ? "Worker" : "Master";
    if (!at(roles, worker).is_object())
      return bad_input(fmt::format("{} has no {}", key, mpi ? "Worker" : "Worker and no Master"));
    Json& pod = map_at(map_at(roles[worker], "template"), "spec");
    divide(resource_of(pod, settings_.resource), roles.contains("Worker"), copy);
    const bool has_master = !mpi && roles.contains("Master");
    const auto workers = static_cast<int64_t>(copy.workers) - (has_master ? 1 : 0);
    if (workers > 0)
      map_at(roles, "Worker")["replicas"] = workers;
    else
      roles.erase("Worker");
    if (mpi && spec.contains("slotsPerWorker"))
      spec["slotsPerWorker"] = std::max<int64_t>(1, std::llround(copy.each));
    copy.pods = copy.workers + (mpi && roles.contains("Launcher") ? 1 : 0);
    Json& policy = map_at(spec, "runPolicy");
    bound(policy);
    policy["cleanPodPolicy"] = "None";  // their logs are read at the end
    policy.erase("suspend");
    spec.erase("elasticPolicy");
    for (auto& [role, replica] : roles.items()) {
      if (!replica.is_object()) return bad_input(fmt::format("{} has no template", role));
      replica["restartPolicy"] = "Never";
      ASSAY_CHECK(change_template(map_at(replica, "template"), copy, role != "Launcher"));
    }
    return {};
  }

  Result<void> change_template(Json& pod, const TrialCopy& copy, bool has_gpus) {
    pod["metadata"] = clean_metadata(at(pod, "metadata"), settings_.trial, copy.name);
    return change_pod(map_at(pod, "spec"), copy, has_gpus);
  }

  /// What operators and Jobs call the same.
  void bound(Json& policy) const {
    policy["activeDeadlineSeconds"] = deadline();
    policy["ttlSecondsAfterFinished"] = kKeptSeconds;
    policy["backoffLimit"] = 0;
  }

  int64_t deadline() const {
    return std::max<int64_t>(1, std::llround(std::ceil(seconds(settings_.deadline))));
  }

  Result<void> change_pod(Json& spec, const TrialCopy& copy, bool has_gpus) {
    for (const char* gone : {"nodeName", "ephemeralContainers", "priority", "priorityClassName",
                             "preemptionPolicy", "schedulingGates"})
      spec.erase(gone);
    spec["restartPolicy"] = "Never";
    spec["activeDeadlineSeconds"] = deadline();
    const Json& grace = at(spec, "terminationGracePeriodSeconds");
    if (!grace.is_number() || grace.get<double>() > kGraceSeconds)
      spec["terminationGracePeriodSeconds"] = kGraceSeconds;
    if (!settings_.priority_class.empty()) spec["priorityClassName"] = settings_.priority_class;
    Json* container = container_of(spec, settings_.resource);
    if (container == nullptr) return bad_input("its pods have no containers");
    for (auto& one : spec["containers"]) {
      if (!one.is_object()) return bad_input("one of its containers is none");
      set_env(one, kTrialGpus, fmt::format("{:g}", choice_.count));
      set_env(one, kTrialWorkers, fmt::format("{:g}", copy.workers));
    }
    keep_last_words(spec);
    if (!has_gpus) return {};
    if (!settings_.shares_nodes) keep_apart(spec, copy);
    if (!choice_.kind.empty()) map_at(spec, "nodeSelector")[settings_.node_label] = choice_.kind;
    Json& resources = map_at(*container, "resources");
    map_at(resources, "limits")[settings_.resource] = quantity_of(copy.each);
    map_at(resources, "requests")[settings_.resource] = quantity_of(copy.each);
    return {};
  }

  /// Its node knows them also when the log is gone or may not be read.
  static void keep_last_words(Json& spec) {
    for (const char* part : {"initContainers", "containers"}) {
      if (!spec.contains(part)) continue;
      for (auto& container : spec[part])
        if (container.is_object())
          container.emplace("terminationMessagePolicy", "FallbackToLogsOnError");
    }
  }

  /// From pods of other trials, which would disturb what is measured.
  static void keep_apart(Json& spec, const TrialCopy& copy) {
    Json& apart = map_at(map_at(spec, "affinity"), "podAntiAffinity");
    Json& rules = apart["requiredDuringSchedulingIgnoredDuringExecution"];
    if (!rules.is_array()) rules = Json::array();
    const Json others = Json::array(
        {{{"key", kTrialLabel}, {"operator", "Exists"}},
         {{"key", kCopyLabel}, {"operator", "NotIn"}, {"values", Json::array({copy.name})}}});
    rules.push_back({{"labelSelector", {{"matchExpressions", others}}},
                     {"topologyKey", "kubernetes.io/hostname"}});
  }

  const TrialSource& source_;
  const Choice& choice_;
  const CopySettings& settings_;
};

constexpr std::array<std::string_view, 4> kKinds = {"Pod", "Job", "MPIJob", "PyTorchJob"};

bool has_kind(const std::string& kind) {
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

bool is_tried(const kubeapi::KindName& kind) {
  if (kind.kind == "Pod") return kind.group.empty();
  if (kind.kind == "Job") return kind.group == "batch";
  return (kind.kind == "MPIJob" || kind.kind == "PyTorchJob") && kind.group == "kubeflow.org";
}

}  // namespace

Result<TrialSource> read_trial_source(const std::string& text, const std::string& file) {
  ASSAY_TRY(Json json, manifest_json(text, file));
  const auto wrong = [&](const std::string& what) {
    return bad_input(fmt::format("{}: {}", file, what));
  };
  const std::string version = text_at(json, "apiVersion");
  if (version.empty()) return wrong("apiVersion is missing; that of a Job is batch/v1");
  const size_t slash = version.find('/');
  TrialSource source{
      .kind = {.group = slash == version.npos ? "" : version.substr(0, slash),
               .version = slash == version.npos ? version : version.substr(slash + 1),
               .kind = text_at(json, "kind")},
      .name = text_at(at(json, "metadata"), "name"),
      .name_space = text_at(at(json, "metadata"), "namespace")};
  if (!is_tried(source.kind) && has_kind(source.kind.kind))
    return wrong(fmt::format("a kind {} of {} cannot be tried; check its apiVersion",
                             in_quotes(source.kind.kind), in_quotes(version)));
  if (!is_tried(source.kind))
    return wrong(fmt::format("a kind {} of {} cannot be tried{}", in_quotes(source.kind.kind),
                             in_quotes(version), suggestion(source.kind.kind, kKinds)));
  if (source.name.empty()) source.name = text_at(at(json, "metadata"), "generateName");
  while (source.name.ends_with('-')) source.name.pop_back();
  if (source.name.empty()) return wrong("metadata has no name");
  for (const std::string& why :
       {kubeapi::wrong_name(source.name),
        source.name_space.empty() ? "" : kubeapi::wrong_namespace(source.name_space)})
    if (!why.empty()) return wrong(why);
  if (!at(json, "spec").is_object()) return wrong("it has no spec");
  if (const auto fine = check_containers(at(json, "spec")); !fine)
    return wrong(fine.error().message);
  json.erase("status");
  source.json = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return source;
}

Result<TrialCopy> make_trial_copy(const TrialSource& source, const Choice& choice,
                                  const CopySettings& settings, uint64_t number) {
  const bool divided = choice.count != std::floor(choice.count);
  if (divided && settings.resource != "cpu")
    return bad_input(fmt::format("{}: parts of {} cannot be asked for",
                                 name_of(choice, settings.resource), settings.resource));
  auto copy = Copier(source, choice, settings).copy(number);
  if (!copy && copy.error().kind == ErrorKind::input)
    return bad_input(fmt::format("{}: {}", source.name, copy.error().message));
  return copy;
}

}  // namespace assay::cluster
