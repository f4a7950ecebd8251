// SPDX-License-Identifier: Apache-2.0
#include "api.h"
#include "budget.h"
#include "families/characteristics.h"
#include "families/families.h"
#include "families/node_families.h"
#include "live_table.h"
#include "names.h"
#include "notify.h"
#include "pods.h"
#include "push.h"
#include "reload.h"
#include "reports.h"
#include "steering.h"
#include "targets.h"
#include "urgency.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <csignal>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>  // before Asio, which forgets it

#include <assay/agent/agent.h>
#include <assay/base/text.h>
#include <assay/hooks/server.h>
#include <assay/net/async_call.h>
#include <assay/net/http_server.h>

namespace assay::agent {

namespace asio = boost::asio;
using asio::awaitable;
using boost::system::error_code;

namespace {

constexpr size_t kMostClients = 256;
constexpr size_t kLargestCall = 64U << 10U;
constexpr auto kPatienceForNames = Milliseconds(5000);

/// Each app keeps a dozen files open.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

double own_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds_of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

double own_resident_bytes() {
  const auto text = SysRoot().read("/proc/self/statm");
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  next_field(rest, ' ');
  const auto pages = parse_uint(next_field(rest, ' '));
  return static_cast<double>(pages.value_or(0)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

class Agent::Parts {
 public:
  Parts(const SysRoot& root, const Clock& clock, Settings settings, Tell tell, Reread reread)
      : root_(root),
        clock_(clock),
        settings_(std::move(settings)),
        tell_(std::move(tell)),
        reread_(std::move(reread)),
        table_(root, clock, {.linger = settings_.linger, .services = settings_.services}),
        reports_(clock, table_, settings_.linger),
        steering_({root_, clock_, loop_, settings_, device_, table_, reports_, tell_}),
        api_({clock_, settings_, tokens_, device_, table_, reports_, steering_,
              steering_.decisions(), [this](promapi::FamilyWriter& out) { write_families(out); },
              [this] { return steering_.advice(); }, tell_}),
        server_(loop_, [this](const net::ServerRequest& request) { return api_.answer(request); },
                {.clients = kMostClients, .body_bytes = kLargestCall}),
        budget_(settings_.own_share, settings_.interval) {}

  Result<void> start() {
    raise_file_limit();
    for (const auto& folder :
         {settings_.hooks.parent_path(), settings_.socket.parent_path(), settings_.state}) {
      std::error_code ignored;  // who needs it says what is wrong
      if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
    }
    ASSAY_TRY(tokens_, Tokens::load(settings_.tokens));
    table_.on_app([this](const LiveApp& app) {
      asio::co_spawn(loop_, find_name(app.identity()), asio::detached);
    });
    table_.on_process([this](const std::string& path, pid_t pid) {
      asio::co_spawn(loop_, await_end(path, pid), asio::detached);
    });
    ASSAY_CHECK(watch_groups());
    ASSAY_TRY(pods_, Pods::follow(
                         settings_.kubernetes, device_.hostname, loop_,
                         [this] { name_apps_of_pods(); }, tell_));
    if (pods_) steering_.use(pods_->limits());
    ASSAY_CHECK(take_reports());
    ASSAY_CHECK(listen());
    ASSAY_CHECK(tell_prometheus());
    asio::co_spawn(loop_, keep_beat(), asio::detached);
    asio::co_spawn(loop_, follow_hangups(), asio::detached);
    if (push_) asio::co_spawn(loop_, keep_pushing(), asio::detached);
    signals_.async_wait([this](const error_code& error, int) {
      if (!error) asio::co_spawn(loop_, finish(), asio::detached);
    });
    steering_.start();
    return {};
  }

  void stop() { asio::co_spawn(loop_, finish(), asio::detached); }
  void run() {
    urgent_ = run_when_woken();
    if (!urgent_)
      tell_("may not be woken first: on a busy machine the end of short containers can be missed");
    loop_.run();
  }
  const std::string& address() const { return address_; }

 private:
  Result<void> watch_groups() {
    const auto& tree = table_.tree();
    if (tree.folder().empty())
      return refused("no control groups are mounted here, so that no app can be seen");
    ASSAY_TRY(auto watch,
              GroupWatch::start(root_.path(tree.folder()).native(), tree.unified(), table_));
    watch_.emplace(std::move(watch));
    asio::co_spawn(loop_, follow(watch_->fd(), [this] { watch_->poll(); }), asio::detached);
    return {};
  }

  Result<void> take_reports() {
    if (settings_.hooks.empty()) return {};
    hooks::Limits limits;
    limits.visit_interval = settings_.interval;
    ASSAY_TRY(hooks_, hooks::listen(settings_.hooks, clock_, reports_, limits));
    tell_(fmt::format("apps report to {}", settings_.hooks.native()));
    asio::co_spawn(loop_, follow(hooks_->fd(), [this] { hooks_->poll(); }), asio::detached);
    return {};
  }

  Result<void> listen() {
    if (!settings_.listen.empty()) {
      ASSAY_TRY(const int port, server_.listen(settings_.listen));
      address_ =
          fmt::format("{}:{}", settings_.listen.substr(0, settings_.listen.rfind(':')), port);
      tell_(fmt::format("listening at {}", address_));
    }
    if (!settings_.socket.empty()) {
      ASSAY_CHECK(server_.listen(settings_.socket));
      tell_(fmt::format("listening at {}", settings_.socket.native()));
    }
    return {};
  }

  /// Where to scrape, or by pushing to it.
  Result<void> tell_prometheus() {
    if (!settings_.targets_file.empty()) {
      ASSAY_TRY(auto file, TargetsFile::write(settings_.targets_file, address_, device_.hostname));
      targets_.emplace(std::move(file));
    }
    if (settings_.remote_write.url.empty()) return {};
    ASSAY_TRY(push_, Push::open(settings_.remote_write, device_.hostname, clock_, tell_));
    return push_->start_sending(
        [this](const std::string& line) { asio::post(loop_, [this, line] { tell_(line); }); });
  }

  /// Calls `poll` whenever the descriptor, which stays the caller's own, can be read.
  template <typename Poll>
  awaitable<void> follow(int fd, Poll poll) {
    asio::posix::stream_descriptor readable(loop_, ::dup(fd));
    error_code error;
    while (!error) {
      co_await readable.async_wait(asio::posix::descriptor_base::wait_read,
                                   asio::redirect_error(asio::use_awaitable, error));
      if (!error) poll();
    }
  }

  void beat() {
    const size_t before = table_.apps().size();
    table_.beat();
    // The library would keep what a thousand containers have needed.
    if (table_.apps().size() < before) ::malloc_trim(0);
    if (hooks_) hooks_->poll();
    reports_.beat();
    steering_.beat();
    stay_urgent();
    const bool slowed = budget_.is_slowed();
    budget_.spent(clock_.now(), own_cpu_seconds());
    ++beats_;
    if (slowed == budget_.is_slowed()) return;
    tell_(slowed ? "reads as often as asked for again"
                 : fmt::format("uses {:.1f} % of a core, more than allowed: reads less often",
                               budget_.share() * 100));
  }

  /// A daemon that was stopped for a moment, or had a thousand containers to read, gave its
  /// priority up; it takes it again when that is over.
  void stay_urgent() {
    if (!urgent_ || runs_when_woken()) return;
    const Timestamp now = clock_.now();
    if (!gave_way_) {
      gave_way_ = now;
      tell_("ran for half a second without a pause: others come first for a minute");
    } else if (now - *gave_way_ >= std::chrono::minutes(1)) {
      gave_way_.reset();
      urgent_ = run_when_woken();
    }
  }

  /// Beats are counted from the first one, so that none drifts; those that were missed are left
  /// out.
  awaitable<void> keep_beat() {
    auto next = asio::steady_timer::clock_type::now();
    while (true) {
      beat();
      const auto now = asio::steady_timer::clock_type::now();
      next += budget_.interval();
      for (; next <= now; ++late_beats_) next += budget_.interval();
      beat_timer_.expires_at(next);
      error_code interrupted;
      co_await beat_timer_.async_wait(asio::redirect_error(asio::use_awaitable, interrupted));
      if (interrupted) next = asio::steady_timer::clock_type::now();
    }
  }

  awaitable<void> follow_hangups() {
    error_code error;
    while (!error) {
      co_await hangups_.async_wait(asio::redirect_error(asio::use_awaitable, error));
      if (error) co_return;
      notify_reloading();
      reload();
      notify_systemd("READY=1");
    }
  }

  void refuse_reload(const Error& error) {
    std::string_view lines = error.message;
    while (!lines.empty()) tell_(std::string(next_field(lines, '\n')));
    tell_("the config file was not taken: all stays as it was");
  }

  void reload() {
    if (!reread_) {
      tell_("there is no config file to read again; start it with --config FILE");
      return;
    }
    auto fresh = reread_();
    if (!fresh) return refuse_reload(fresh.error());
    auto tokens = Tokens::load(fresh->tokens);
    if (!tokens) return refuse_reload(tokens.error());
    tokens_ = std::move(*tokens);
    const auto kept = keep_fixed(settings_, *fresh);
    if (!kept.empty()) tell_(fmt::format("{}: takes a restart to change", fmt::join(kept, ", ")));
    take(std::move(*fresh));
    tell_("read its config file again");
  }

  void take(Settings fresh) {
    if (fresh.location != settings_.location)
      characteristics_.emplace(root_, clock_, fresh.location);
    settings_ = std::move(fresh);
    table_.change_linger(settings_.linger);
    reports_.change_linger(settings_.linger);
    if (hooks_) hooks_->visit_every(settings_.interval);
    budget_.change(settings_.own_share, settings_.interval);
    steering_.read_goals();
    beat_timer_.cancel();
  }

  /// A pass waits for the first names, which take a moment to be found.
  awaitable<void> keep_pushing() {
    asio::steady_timer timer(loop_);
    auto next = asio::steady_timer::clock_type::now() +
                std::min<Nanoseconds>(settings_.interval, push_->interval());
    for (error_code error;;) {
      timer.expires_at(next);
      co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
      if (error) co_return;
      push_->pass([this](promapi::FamilyWriter& out) { write_families(out); });
      const auto now = asio::steady_timer::clock_type::now();
      while (next <= now) next += push_->interval();
    }
  }

  /// The group of an app goes within milliseconds of its first process.
  awaitable<void> await_end(std::string path, pid_t pid) {
    const int fd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    if (fd < 0) {
      // Kernels before 5.3 cannot tell of an end; what ends there is a lower bound.
      if (errno == ESRCH) table_.process_ended(path);
      co_return;
    }
    asio::posix::stream_descriptor process(loop_, fd);
    error_code error;
    co_await process.async_wait(asio::posix::descriptor_base::wait_read,
                                asio::redirect_error(asio::use_awaitable, error));
    if (!error) table_.process_ended(path);
  }

  awaitable<void> find_name(AppIdentity identity) {
    if (identity.group.kind != GroupKind::container) co_return;
    const std::string path = identity.path;
    bool known = take_files(root_, identity);
    if (!known && !settings_.docker.empty()) {
      const auto answer = co_await net::async_get(
          settings_.docker, fmt::format("/containers/{}/json", identity.group.id),
          kPatienceForNames);
      known = answer.status == 200 && take_docker_inspect(answer.body, identity);
    }
    known = (pods_ && pods_->table().name(identity)) || known;
    LiveApp* const app = table_.find(path);
    if (!known || app == nullptr) co_return;
    app->identify(std::move(identity));
    reports_.relabel(path);
    steering_.identified(*app);
  }

  void name_apps_of_pods() {
    name_apps(pods_->table(), table_, reports_);
    for (const auto& [path, app] : table_.apps())
      if (!app->ended()) steering_.identified(*app);
  }

  awaitable<void> finish() {
    co_await steering_.put_back();
    loop_.stop();
  }

  /// All that Prometheus is told, whether it asks or is sent it.
  void write_families(promapi::FamilyWriter& out) {
    if (settings_.containers) {
      write_containers(out, table_);
      write_machine(out, device_);
    }
    if (settings_.reports) {
      write_reports(out, reports_);
      write_decisions(out, steering_.decisions(), table_, reports_);
    }
    write_own(out);
    if (settings_.node) node_.write(out);
    if (settings_.characteristics) characteristics_->write(out);
  }

  /// What the daemon itself costs and misses.
  void write_own(promapi::FamilyWriter& out) const {
    using promapi::FamilyKind;
    const promapi::LabelText none;
    const auto one = [&](std::string_view name, FamilyKind kind, std::string_view help,
                         double value) {
      out.family(name, kind, help);
      out.sample(none, value);
    };
    one("assay_agent_cpu_seconds_total", FamilyKind::counter, "CPU time that the agent has used.",
        own_cpu_seconds());
    one("assay_agent_resident_bytes", FamilyKind::gauge, "Memory that the agent has.",
        own_resident_bytes());
    one("assay_agent_cpu_ratio", FamilyKind::gauge,
        "Share of one core that the agent used over the last ten seconds.", budget_.share());
    one("assay_agent_cpu_limit_ratio", FamilyKind::gauge,
        "Share of one core above which the agent reads less often.", settings_.own_share);
    one("assay_agent_interval_seconds", FamilyKind::gauge,
        "How often the agent reads all apps at present.", seconds(budget_.interval()));
    one("assay_agent_beats_total", FamilyKind::counter, "How often the agent has read all apps.",
        static_cast<double>(beats_));
    one("assay_agent_late_beats_total", FamilyKind::counter,
        "Readings that were left out because the one before took too long.",
        static_cast<double>(late_beats_));
    one("assay_agent_apps", FamilyKind::gauge, "Apps in the live table.",
        static_cast<double>(table_.apps().size()));
    out.family("assay_agent_steps_total", FamilyKind::counter,
               "Changes of limits that the agent has made.");
    for (size_t i = 0; i < steering_.steps().size(); ++i)
      out.sample(none, promapi::Label{"kind", to_string(static_cast<Step::Kind>(i))},
                 static_cast<double>(steering_.steps()[i]));
    one("assay_agent_apps_not_watched_total", FamilyKind::counter,
        "Apps that were too many to be watched.", static_cast<double>(table_.not_watched()));
    if (push_) push_->write_own(out);
  }

  SysRoot root_;
  const Clock& clock_;
  Settings settings_;
  Tell tell_;
  Reread reread_;
  const Device device_ = probes::read_device(root_);
  asio::io_context loop_{1};
  asio::signal_set signals_{loop_, SIGTERM, SIGINT};
  asio::signal_set hangups_{loop_, SIGHUP};
  asio::steady_timer beat_timer_{loop_};
  LiveTable table_;
  Reports reports_;
  std::unique_ptr<hooks::Server> hooks_;
  std::optional<GroupWatch> watch_;
  Steering steering_;
  Tokens tokens_;
  Api api_;
  std::unique_ptr<Pods> pods_;
  net::HttpServer server_;
  Budget budget_;
  uint64_t beats_ = 0;
  uint64_t late_beats_ = 0;
  bool urgent_ = false;                ///< it may be woken first
  std::optional<Timestamp> gave_way_;  ///< when it gave that up for a while
  NodeFamilies node_{root_, clock_};
  std::optional<Characteristics> characteristics_{std::in_place, root_, clock_, settings_.location};
  std::string address_;
  std::optional<TargetsFile> targets_;
  std::unique_ptr<Push> push_;  ///< last: its thread tells through the loop
};

Agent::Agent(const SysRoot& root, const Clock& clock, Settings settings, Tell tell, Reread reread)
    : parts_(std::make_unique<Parts>(root, clock, std::move(settings), std::move(tell),
                                     std::move(reread))) {}
Agent::~Agent() = default;

Result<void> Agent::start() {
  return parts_->start();
}
void Agent::run() {
  notify_systemd("READY=1");
  parts_->run();
  notify_systemd("STOPPING=1");
}
void Agent::stop() {
  parts_->stop();
}
const std::string& Agent::address() const {
  return parts_->address();
}

}  // namespace assay::agent
