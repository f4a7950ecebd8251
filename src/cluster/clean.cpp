// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include <assay/cluster/profiler.h>
#include <assay/kubeapi/annotations.h>
#include <assay/kubeapi/discovery.h>
#include <assay/kubeapi/follower.h>
#include <assay/kubeapi/rate_limiter.h>

namespace assay::cluster {
namespace {

using kubeapi::ObjectMeta;
using kubeapi::ObjectName;
using kubeapi::Resource;

constexpr size_t kMostObjects = 200'000;

bool is_ours(const ObjectMeta& meta, const std::string& prefix) {
  const auto at = meta.annotations.lower_bound(prefix);
  return at != meta.annotations.end() && at->first.starts_with(prefix);
}

/// Cleans one kind of objects; those of owners that are of other kinds are gathered.
class Cleaner {
 public:
  Cleaner(const ProfilerSettings& settings, const Tell& tell, net::Stopper& stopper)
      : tell_(tell),
        stopper_(stopper),
        prefix_(settings.domain + "/"),
        client_(settings.cluster),
        writer_(client_, {.manager = "assay-profiler"}),
        limiter_(clock_, {.per_second = settings.requests_per_second,
                          .burst = settings.requests_per_second}),
        discovery_(client_, clock_) {}

  Result<size_t> run() {
    for (const auto& resource :
         {kubeapi::nodes(), kubeapi::pods(), kubeapi::jobs(),
          Resource{
              .group = "apps", .version = "v1", .plural = "replicasets", .kind = "ReplicaSet"}})
      ASSAY_CHECK(clean_kind(resource));
    // Owners may have owners: each kind once.
    while (!kinds_.empty()) {
      const auto kind = kinds_.extract(kinds_.begin()).mapped();
      ASSAY_TRY(const auto resource, discovery_.find(kind, stopper_));
      if (resource) ASSAY_CHECK(clean_kind(*resource));
    }
    return cleaned_;
  }

 private:
  Result<void> clean_kind(const Resource& resource) {
    if (!seen_.insert(resource.name()).second) return {};
    kubeapi::Query query{.resource = resource, .most = kMostObjects};
    query.page = 500;
    ASSAY_TRY(const auto listed, kubeapi::list<ObjectMeta>(client_, query, stopper_));
    if (!listed) return {};
    for (const auto& meta : listed->items) {
      gather_owners(meta);
      if (is_ours(meta, prefix_))
        ASSAY_CHECK(clean_one({resource, meta.name_space, meta.name, meta.uid}));
    }
    return {};
  }

  void gather_owners(const ObjectMeta& meta) {
    for (const auto& owner : meta.owners) {
      const auto kind = kubeapi::kind_of(owner);
      // Only operators' kinds are jobs; those have a dot in their group.
      if (owner.controller && kind.group.find('.') != std::string::npos)
        kinds_.emplace(kind.group + "/" + kind.kind, kind);
    }
  }

  Result<void> clean_one(const ObjectName& object) {
    for (auto wait = limiter_.take(); wait > Milliseconds(0); wait = limiter_.take())
      std::this_thread::sleep_for(wait);
    ASSAY_TRY(const auto written, writer_.clean(object, stopper_));
    if (written.outcome == kubeapi::Outcome::done) ++cleaned_;
    if (written.outcome == kubeapi::Outcome::forbidden) return refused(written.why);
    if (written.outcome == kubeapi::Outcome::throttled) {
      limiter_.hold(written.retry_after);
      return clean_one(object);
    }
    if (!written.why.empty() && written.outcome != kubeapi::Outcome::gone) tell_(written.why);
    return {};
  }

  const Tell& tell_;
  net::Stopper& stopper_;
  const std::string prefix_;
  const SystemClock clock_;
  kubeapi::Client client_;
  kubeapi::AnnotationWriter writer_;
  kubeapi::RateLimiter limiter_;
  kubeapi::Discovery discovery_;
  std::map<std::string, kubeapi::KindName> kinds_;  ///< not looked at yet
  std::set<std::string> seen_;
  size_t cleaned_ = 0;
};

}  // namespace

Result<size_t> clean(const ProfilerSettings& settings, const Tell& tell, net::Stopper& stopper) {
  return Cleaner(settings, tell, stopper).run();
}

}  // namespace assay::cluster
