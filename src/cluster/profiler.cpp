// SPDX-License-Identifier: Apache-2.0
#include "follow.h"
#include "gpu_patterns.h"
#include "history.h"
#include "inventory.h"
#include "lead.h"
#include "publisher.h"
#include "roots.h"
#include "status.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <assay/base/mutex.h>
#include <assay/cluster/profiler.h>
#include <assay/kubeapi/writes.h>

namespace assay::cluster {

namespace {

constexpr Nanoseconds kSourcesAge = std::chrono::minutes(5);
constexpr Nanoseconds kLackingAge = std::chrono::seconds(10);
constexpr Nanoseconds kClusterAge = std::chrono::minutes(5);
constexpr Nanoseconds kSaveEvery = std::chrono::minutes(5);
constexpr Nanoseconds kLookAtAll = std::chrono::minutes(10);
constexpr Nanoseconds kRemembered = std::chrono::hours(1);
/// Of a round: for reading back what was used before.
constexpr int kReadBackPart = 10;
/// So short that the server's books of old watches stay small.
constexpr Milliseconds kWatch{60'000};
constexpr size_t kMostObjects = 200'000;
constexpr size_t kPage = 500;

kubeapi::Query all_of(kubeapi::Resource resource) {
  return {.resource = std::move(resource), .page = kPage, .most = kMostObjects, .watch = kWatch};
}

using Middle = Inventory::Middle;
const std::array<std::pair<Middle, kubeapi::Resource>, 4> kBetween = {{
    {Middle::jobs, kubeapi::jobs()},
    {Middle::replica_sets, {.group = "apps", .plural = "replicasets", .kind = "ReplicaSet"}},
    {Middle::deployments, {.group = "apps", .plural = "deployments", .kind = "Deployment"}},
    {Middle::stateful_sets, {.group = "apps", .plural = "statefulsets", .kind = "StatefulSet"}},
}};

/// There as long as a cluster is, and nowhere else with that uid.
const kubeapi::ObjectName kSystem = {
    {.plural = "namespaces", .kind = "Namespace", .namespaced = false}, "", "kube-system", ""};

Result<std::unique_ptr<store::Shelf>> open_history(const std::string& where) {
  if (where.empty()) return std::unique_ptr<store::Shelf>();
  return store::is_postgres(where) ? store::Shelf::open(where) : store::Shelf::open_sqlite(where);
}

class Profiler {
 public:
  Profiler(const ProfilerSettings& settings, Tell tell, net::Stopper& stopper)
      : settings_(settings),
        tell_(std::move(tell)),
        stopper_(stopper),
        client_(settings.cluster),
        limiter_(clock_, {.per_second = settings.requests_per_second,
                          .burst = std::max(1.0, settings.requests_per_second)}),
        roots_(client_, limiter_, clock_),
        queries_(settings.prometheus),
        inventory_(settings.gpu_resource),
        tracker_(settings.interval),
        patterns_(settings.interval, {}),
        publisher_(client_, {.manager = "assay-profiler", .leave_taken = true},
                   {.domain = settings.domain}, limiter_, clock_, tell_) {}

  Result<void> run() {
    ASSAY_TRY(shelf_, open_history(settings_.history));
    if (shelf_) history_.emplace(*shelf_, settings_.keep);
    if (!settings_.listen.empty()) {
      ASSAY_TRY(server_, StatusServer::start(settings_.listen, clock_));
      tell_(fmt::format("metrics at port {}, /metrics", server_->port()));
    }
    const Lead lead(settings_, clock_, tell_);
    Followings followings;
    follow(followings);
    const auto begun = clock_.now();
    for (int done = 0; settings_.rounds == 0 || done < settings_.rounds;) {
      const auto begin = clock_.now();
      if (server_) server_->alive();
      if (knows_cluster()) {
        round(lead, begin + settings_.interval);
        ++done;
      } else {
        ASSAY_CHECK(wait_for_cluster(begun));
      }
      const auto next =
          done > 0 ? begin + settings_.interval : clock_.now() + std::chrono::milliseconds(200);
      if (settings_.rounds != 0 && done == settings_.rounds) break;
      if (!wait(next - clock_.now(), stopper_)) break;
    }
    save(lead, true);
    // Who asks for some rounds wants to know what came of them.
    if (settings_.rounds != 0 && !read_at_ && !last_trouble_.empty() && !stopper_.stopped())
      return refused(fmt::format("nothing was read in {}: {}",
                                 settings_.rounds == 1 ? "the round" : "any round", last_trouble_));
    if (settings_.rounds != 0 && status_.rounds > 0) tell_(status_sentence(status_));
    return {};
  }

 private:
  void follow(Followings& followings) {
    using kubeapi::Change;
    const auto keep = [this](const std::string& trouble) { keep_trouble(trouble); };
    followings.add<kubeapi::Pod>(
        settings_.cluster, all_of(kubeapi::pods()),
        [this](Change<kubeapi::Pod> c) { inventory_.take(std::move(c)); }, keep);
    followings.add<kubeapi::Node>(
        settings_.cluster, all_of(kubeapi::nodes()),
        [this](Change<kubeapi::Node> c) { inventory_.take(std::move(c)); }, keep);
    for (const auto& [middle, resource] : kBetween)
      followings.add<kubeapi::ObjectMeta>(
          settings_.cluster, all_of(resource),
          [this, which = middle](auto change) { inventory_.take(which, std::move(change)); },
          tell_);
  }

  /// Owners are waited for, but not for ever: some clusters do not let us list them.
  bool knows_cluster() {
    if (!inventory_.complete()) return false;
    if (!complete_since_) complete_since_ = clock_.now();
    return inventory_.knows_owners() || clock_.now() - *complete_since_ > settings_.owners_patience;
  }

  /// Rounds that are counted are waited for by somebody.
  Result<void> wait_for_cluster(Timestamp begun) {
    if (inventory_.complete() || clock_.now() - begun < settings_.patience) return {};
    if (settings_.rounds == 0) {
      tell_once("nodes and pods are not known yet: the API server is asked again until they are");
      return {};
    }
    const Lock lock(mutex_);
    return refused(fmt::format("the cluster did not tell of its nodes and pods within {}{}{}",
                               format_duration(settings_.patience), trouble_.empty() ? "" : ": ",
                               trouble_));
  }

  /// By the threads that follow nodes and pods, without which nothing can be told.
  void keep_trouble(const std::string& trouble) {
    tell_(trouble);
    const Lock lock(mutex_);
    trouble_ = trouble;
  }

  void round(const Lead& lead, Timestamp end) {
    const auto begin = clock_.now();
    if (const auto read = update(begin); !read) {
      ++status_.failed_readings;
      tell_changed(last_trouble_, read.error().message);
    } else {
      last_trouble_.clear();
      read_at_ = begin;
    }
    read_back();
    tracker_.look(turns(kLookAtAll));
    const auto more = [&] { return clock_.now() < end; };
    if (const auto found = patterns_.look(queries_, sources_, tracker_, begin, more, &stopper_);
        !found)
      tell_changed(last_patterns_, found.error().message);
    else
      last_patterns_.clear();
    if (lead.leads() && !status_.leads && status_.rounds > 0 && history_)
      history_->take_over(tracker_);
    status_.leads = lead.leads();
    if (lead.leads()) end_missing();
    status_.round_seconds = seconds(clock_.now() - begin);
    if (lead.leads()) publish(lead, more);
    if (begin - saved_at_ >= kSaveEvery) save(lead, false);
    tracker_.forget_gone(begin - kRemembered);
    ++status_.rounds;
    tell_status();
  }

  size_t turns(Nanoseconds all_in) const {
    return static_cast<size_t>(std::max<int64_t>(1, all_in / Nanoseconds(settings_.interval)));
  }

  /// Asks Prometheus and takes what it says.
  Result<void> update(Timestamp now) {
    if (now - sources_at_ > (lacking_.empty() && read_at_ ? kSourcesAge : kLackingAge))
      ASSAY_CHECK(find_sources_anew(now));
    ASSAY_TRY(const auto reading,
              read_cluster(queries_, sources_, inventory_.node_names(), &stopper_));
    for (const auto& warning : reading.warnings) tell_once("Prometheus warns: " + warning);
    auto seen = inventory_.seen(roots_);
    if (const auto looked = roots_.look_up(stopper_); !looked)
      tell_changed(last_lookup_, looked.error().message);
    else
      last_lookup_.clear();
    seen = inventory_.seen(roots_);
    roots_.forget_unused();
    tracker_.update(seen, reading, now);
    return {};
  }

  std::function<bool()> for_history() const {
    return [this, end = clock_.now() + settings_.interval / kReadBackPart] {
      return clock_.now() < end;
    };
  }

  void read_back() {
    if (!history_) return;
    const auto restored = history_->restore(tracker_, for_history());
    history_answers_ = restored.has_value();
    if (!restored) tell_changed(last_history_, restored.error().message);
  }

  /// The address of an API server can be that of many: in all pods, or on every laptop.
  void find_cluster() {
    if (cluster_known_ || clock_.now() - cluster_asked_ < kClusterAge) return;
    const auto found = kubeapi::get_meta(client_, kSystem, stopper_);
    if (found && *found && !(*found)->uid.empty()) {
      history_->set_cluster((*found)->uid);
      cluster_known_ = true;
      return;
    }
    if (!found && found.error().temporary) return;
    cluster_asked_ = clock_.now();
    tell_once(
        "jobs that ended while nobody looked are not kept as ended, as clusters cannot be "
        "told apart: " +
        (found ? "there is no namespace kube-system" : found.error().message));
  }

  /// Nothing must be taken for ended because it has not been heard of yet.
  void end_missing() {
    if (!history_) return;
    find_cluster();
    if (!read_at_ || stopper_.stopped()) return;
    const auto ended = history_->end_missing(tracker_, roots_.hidden(), for_history());
    if (!ended) tell_changed(last_history_, ended.error().message);
  }

  Result<void> find_sources_anew(Timestamp now) {
    ASSAY_TRY(auto found, find_sources(queries_, &stopper_));
    // What was there once may only be away for a moment.
    found.names.insert(sources_.names.begin(), sources_.names.end());
    if (found.pod_labels.empty()) found.pod_labels = sources_.pod_labels;
    sources_ = std::move(found);
    sources_at_ = now;
    // What Prometheus lacks at its start it may have a moment later.
    const auto before = std::exchange(lacking_, missing_sources(sources_));
    for (const auto& missing : lacking_)
      if (std::find(before.begin(), before.end(), missing) != before.end())
        tell_once("Prometheus has " + missing);
    return {};
  }

  void publish(const Lead& lead, const std::function<bool()>& more) {
    publisher_.plan(tracker_, history_ && history_answers_);
    tell_status();
    const auto written = publisher_.write(
        tracker_, [&] { return more() && lead.leads(); }, stopper_);
    if (!written)
      tell_changed(last_write_, written.error().message);
    else
      last_write_.clear();
  }

  /// Only whoever leads keeps a history: others have seen less.
  void save(const Lead& lead, bool all) {
    const auto now = clock_.now();
    if (!history_ || !lead.leads()) {
      (void)tracker_.take_gone();
      for (auto& [uid, job] : tracker_.jobs()) job.unsaved = false;
      saved_at_ = now;
      return;
    }
    const auto saved = history_->save(tracker_, now, all);
    status_.history_saved = saved.has_value();
    if (!saved) {
      tell_changed(last_history_, saved.error().message);
      return;
    }
    last_history_.clear();
    saved_at_ = now;
  }

  void tell_status() {
    status_.nodes = tracker_.nodes().size();
    status_.pods = tracker_.pods().size();
    status_.jobs = tracker_.jobs().size();
    status_.gpus = 0;
    for (const auto& [name, node] : tracker_.nodes()) status_.gpus += node.gpus.size();
    status_.reading_age_seconds = read_at_ ? seconds(clock_.now() - *read_at_) : -1;
    status_.writes = publisher_.writes();
    if (server_) server_->set(status_);
  }

  void tell_changed(std::string& last, const std::string& sentence) {
    if (last != sentence && !stopper_.stopped()) tell_(sentence);
    last = sentence;
  }
  void tell_once(const std::string& sentence) {
    constexpr size_t kMost = 50;
    if (said_.size() < kMost && said_.insert(sentence).second) tell_(sentence);
  }

  const ProfilerSettings& settings_;
  const Tell tell_;
  net::Stopper& stopper_;
  const SystemClock clock_;
  kubeapi::Client client_;
  kubeapi::RateLimiter limiter_;
  Roots roots_;
  promapi::Queries queries_;
  Inventory inventory_;
  Tracker tracker_;
  GpuPatterns patterns_;
  Publisher publisher_;
  std::unique_ptr<store::Shelf> shelf_;
  std::optional<History> history_;
  bool history_answers_ = true;
  bool cluster_known_ = false;
  Timestamp cluster_asked_;  ///< in vain
  std::unique_ptr<StatusServer> server_;
  Sources sources_;
  Timestamp sources_at_;
  std::vector<std::string> lacking_;  ///< what Prometheus was without when it was last asked
  std::optional<Timestamp> read_at_;
  std::optional<Timestamp> complete_since_;  ///< pods and nodes are known
  Timestamp saved_at_ = clock_.now();
  Status status_;
  std::set<std::string> said_;
  Mutex mutex_;
  std::string trouble_ ASSAY_GUARDED_BY(mutex_);  ///< that was told last of nodes or pods
  std::string last_trouble_, last_patterns_, last_lookup_, last_write_, last_history_;
};

/// Sentences come from several threads.
Tell one_at_a_time(Tell tell, Mutex& mutex) {
  return [tell = std::move(tell), &mutex](const std::string& sentence) {
    const Lock lock(mutex);
    tell(sentence);
  };
}

}  // namespace

Result<void> profile(const ProfilerSettings& settings, const Tell& tell, net::Stopper& stopper) {
  Mutex mutex;
  return Profiler(settings, one_at_a_time(tell, mutex), stopper).run();
}

}  // namespace assay::cluster
