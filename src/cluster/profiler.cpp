// SPDX-License-Identifier: Apache-2.0
#include "endings.h"
#include "follow.h"
#include "gpu_patterns.h"
#include "history_keeper.h"
#include "inventory.h"
#include "lead.h"
#include "publisher.h"
#include "roots.h"
#include "status.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <assay/base/mutex.h>
#include <assay/cluster/profiler.h>

namespace assay::cluster {

namespace {

constexpr Nanoseconds kSourcesAge = std::chrono::minutes(5);
constexpr Nanoseconds kLackingAge = std::chrono::seconds(10);
constexpr Nanoseconds kLookAtAll = std::chrono::minutes(10);
/// For writing, or a round if that is shorter, also where reading takes longer than one.
constexpr Nanoseconds kLeastForWriting = std::chrono::seconds(5);
constexpr Nanoseconds kRemembered = std::chrono::hours(1);
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
                   {.domain = settings.domain}, limiter_, clock_, tell_),
        history_(settings, client_, clock_, tell_, stopper) {}

  Result<bool> run() {
    ASSAY_CHECK(history_.open());
    if (!settings_.listen.empty()) {
      ASSAY_TRY(server_, StatusServer::start(settings_.listen, clock_, settings_.interval));
      tell_(fmt::format("metrics at port {}, /metrics", server_->port()));
    }
    const Lead lead(settings_, clock_, tell_);
    Followings followings;
    follow(followings);
    const auto begun = clock_.now();
    int done = 0;
    while (settings_.rounds == 0 || done < settings_.rounds) {
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
    history_.save(tracker_, lead.leads(), true);
    status_.history_saved = history_.is_saved();
    // Who asks for some rounds wants to know what came of them.
    if (settings_.rounds != 0 && !read_at_ && !last_trouble_.empty() && !stopper_.stopped())
      return refused(fmt::format("nothing was read in {}: {}",
                                 settings_.rounds == 1 ? "the round" : "any round", last_trouble_));
    if (settings_.rounds != 0 && status_.rounds > 0) tell_(status_sentence(status_));
    return done >= settings_.rounds;
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
    const bool read = read_now(begin);
    history_.read_back(tracker_);
    tracker_.look(turns(kLookAtAll));
    const auto more = [&] { return clock_.now() < end; };
    if (const auto found = patterns_.look(queries_, sources_, tracker_, begin, more, &stopper_);
        !found)
      tell_changed(last_patterns_, found.error().message);
    else
      last_patterns_.clear();
    status_.leads = lead.leads();
    status_.another_leads = lead.another_leads();
    history_.lead(tracker_, status_.leads);
    if (read) history_.end_missing(tracker_, hidden_);
    status_.round_seconds = seconds(clock_.now() - begin);
    const auto least = std::min(kLeastForWriting, Nanoseconds(settings_.interval));
    if (status_.leads) publish(lead, std::max(end, clock_.now() + least));
    history_.save(tracker_, lead.leads(), false);
    status_.history_saved = history_.is_saved();
    tracker_.forget_gone(begin - kRemembered);
    ++status_.rounds;
    tell_status();
  }

  bool read_now(Timestamp now) {
    if (const auto read = update(now); !read) {
      ++status_.failed_readings;
      tell_changed(last_trouble_, read.error().message);
      return false;
    }
    last_trouble_.clear();
    read_at_ = now;
    return true;
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
    ask_for_ends(tracker_, client_, limiter_, now, stopper_);
    hidden_ = roots_.hidden();
    for (const auto& name_space : seen.unclear) hidden_.add_any(name_space);
    return {};
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

  void publish(const Lead& lead, Timestamp end) {
    publisher_.plan(tracker_, history_.goes_on());
    tell_status();
    const auto written = publisher_.write(
        tracker_, [&] { return clock_.now() < end && lead.leads(); }, stopper_);
    if (!written)
      tell_changed(last_write_, written.error().message);
    else
      last_write_.clear();
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
  HistoryKeeper history_;
  HiddenJobs hidden_;  ///< as of the last reading
  std::unique_ptr<StatusServer> server_;
  Sources sources_;
  Timestamp sources_at_;
  std::vector<std::string> lacking_;  ///< what Prometheus was without when it was last asked
  std::optional<Timestamp> read_at_;
  std::optional<Timestamp> complete_since_;  ///< pods and nodes are known
  Status status_;
  std::set<std::string> said_;
  Mutex mutex_;
  std::string trouble_ ASSAY_GUARDED_BY(mutex_);  ///< that was told last of nodes or pods
  std::string last_trouble_, last_patterns_, last_lookup_, last_write_;
};

/// Sentences come from several threads, which often meet the same trouble at once: that is told
/// once.
class Telling {
 public:
  explicit Telling(Tell tell) : tell_(std::move(tell)) {}

  void operator()(const std::string& sentence) {
    constexpr auto kAtOnce = std::chrono::seconds(3);
    const Lock lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(told_, [&](const auto& told) { return now - told.second > kAtOnce; });
    if (told_.try_emplace(sentence, now).second) tell_(sentence);
  }

 private:
  const Tell tell_;
  Mutex mutex_;
  std::map<std::string, std::chrono::steady_clock::time_point> told_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace

Result<bool> profile(const ProfilerSettings& settings, const Tell& tell, net::Stopper& stopper) {
  Telling telling(tell);
  return Profiler(settings, std::ref(telling), stopper).run();
}

}  // namespace assay::cluster
