// SPDX-License-Identifier: Apache-2.0
#include "follow.h"
#include "roots.h"

#include <algorithm>
#include <string>
#include <utility>
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
constexpr size_t kPage = 500;

bool is_ours(const ObjectMeta& meta, const std::string& prefix) {
  const auto at = meta.annotations.lower_bound(prefix);
  return at != meta.annotations.end() && at->first.starts_with(prefix);
}

/// Cleans nodes, pods, jobs and whatever operators brought, also kinds of which no pod is left.
class Cleaner {
 public:
  Cleaner(const ProfilerSettings& settings, const Tell& tell, net::Stopper& stopper)
      : tell_(tell),
        stopper_(stopper),
        prefix_(settings.domain + "/"),
        client_(settings.cluster),
        writer_(client_, {.manager = "assay-profiler"}),
        trial_writer_(client_, {.manager = "assay-trial"}),
        limiter_(clock_, {.per_second = settings.requests_per_second,
                          .burst = settings.requests_per_second}) {}

  Result<size_t> run() {
    for (const auto& resource : {kubeapi::nodes(), kubeapi::pods(), kubeapi::jobs()}) {
      ASSAY_TRY(const auto listed, list(resource));
      ASSAY_CHECK(clean_all(resource, listed));
    }
    ASSAY_CHECK(clean_brought());
    return cleaned_;
  }

 private:
  using Metas = std::vector<ObjectMeta>;

  Result<Metas> list(const Resource& resource) {
    const kubeapi::Query query{.resource = resource, .page = kPage, .most = kMostObjects};
    ASSAY_TRY(auto listed, kubeapi::list<ObjectMeta>(client_, query, stopper_));
    return listed ? std::move(listed->items) : Metas();
  }

  /// Kinds that operators brought. One that cannot be cleaned is told of when the others are.
  Result<void> clean_brought() {
    ASSAY_TRY(const auto offer,
              kubeapi::find_resources(
                  client_, [](const std::string& group) { return !is_built_in(group); },
                  {"list", "patch"}, stopper_));
    for (const auto& why : offer.unanswered) tell_(why);
    Result<void> result;
    for (const auto& resource : offer.resources) {
      const auto listed = list(resource);
      auto cleaned = listed ? clean_all(resource, *listed) : fail(listed.error());
      if (stopper_.stopped()) return cleaned;
      if (cleaned) continue;
      tell_(cleaned.error().message);
      // What nobody lets us list is hardly annotated.
      if (listed || listed.error().temporary) result = fail(cleaned.error());
    }
    return result;
  }

  Result<void> clean_all(const Resource& resource, const Metas& metas) {
    for (const auto& meta : metas)
      if (is_ours(meta, prefix_))
        ASSAY_CHECK(clean_one({resource, meta.name_space, meta.name, meta.uid},
                              meta.annotations.contains(prefix_ + "trial")));
    return {};
  }

  Result<void> clean_one(const ObjectName& object, bool tried) {
    ASSAY_TRY(auto outcome, clean_one(object, writer_));
    if (tried) {
      ASSAY_TRY(outcome, clean_one(object, trial_writer_));
    }
    if (outcome == kubeapi::Outcome::done) ++cleaned_;
    return {};
  }

  Result<kubeapi::Outcome> clean_one(const ObjectName& object, kubeapi::AnnotationWriter& writer) {
    while (true) {
      for (auto time = limiter_.take(); time > Milliseconds(0); time = limiter_.take())
        if (!wait(time, stopper_)) return refused("stopped");
      ASSAY_TRY(const auto written, writer.clean(object, stopper_));
      if (written.outcome == kubeapi::Outcome::forbidden) return refused(written.why);
      if (written.outcome == kubeapi::Outcome::throttled) {
        limiter_.hold(std::max(written.retry_after, Milliseconds(1000)));
        continue;
      }
      if (!written.why.empty() && written.outcome != kubeapi::Outcome::gone) tell_(written.why);
      return written.outcome;
    }
  }

  const Tell& tell_;
  net::Stopper& stopper_;
  const std::string prefix_;
  const SystemClock clock_;
  kubeapi::Client client_;
  kubeapi::AnnotationWriter writer_;
  kubeapi::AnnotationWriter trial_writer_;  ///< of what trials wrote
  kubeapi::RateLimiter limiter_;
  size_t cleaned_ = 0;
};

}  // namespace

Result<size_t> clean(const ProfilerSettings& settings, const Tell& tell, net::Stopper& stopper) {
  return Cleaner(settings, tell, stopper).run();
}

}  // namespace assay::cluster
