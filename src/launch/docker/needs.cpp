// SPDX-License-Identifier: Apache-2.0
#include "docker/needs.h"

#include "docker/container.h"
#include "docker/ready.h"
#include "docker/start_container.h"

#include <charconv>
#include <csignal>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr Milliseconds kLook{50};
constexpr Nanoseconds kLongestDeath = std::chrono::seconds(5);
constexpr auto kPatience = Milliseconds(20'000);
constexpr size_t kLastLines = 8;

/// Without one of its own name, the app and its needs get a network to themselves.
bool is_usual(const std::string& network) {
  return network.empty() || network == "default" || network == "bridge";
}

bool can_be_joined(const std::string& network) {
  return network != "host" && network != "none" && network.find(':') == std::string::npos;
}

/// One container beside the app.
struct Beside {
  Need need;
  fs::path log;
  SteadyClock::time_point started = SteadyClock::now();
  std::unique_ptr<RunningApp> app;
  std::optional<Nanoseconds> ended_after;  ///< while the app ran

  bool alive() const { return !app->exited(); }
};

Failure never_ready(const Beside& beside) {
  const std::string said = last_lines(beside.log, kLastLines);
  return refused(fmt::format("{} was not ready after {}: waited for {}; {}{}", beside.need.name,
                             format_duration(beside.need.ready_timeout), ready_sign(beside.need),
                             said.empty() ? "it said nothing" : "it said last:", said));
}

Failure ended_early(Beside& beside) {
  const Exit exit = beside.app->release();
  const std::string said = last_lines(beside.log, kLastLines);
  return refused(fmt::format("{} ended before it was ready: {}; {}{}", beside.need.name,
                             exit.detail,
                             said.empty() ? "it said nothing" : "it said last:", said));
}

Result<void> await(Beside& beside, const Waiting& waiting) {
  const Need& need = beside.need;
  const std::string sign = ready_sign(need);
  LogWatch log(beside.log, need.ready_log);
  while (true) {
    const bool late = SteadyClock::now() - beside.started >= need.ready_timeout;
    if (beside.app->exited()) return ended_early(beside);
    const bool open =
        !need.ready_port || listens(SysRoot(), beside.app->target().root, *need.ready_port);
    if (log.seen() && open) return {};
    if (late) return never_ready(beside);
    if (!waiting(fmt::format("waiting for {} ({})", need.name, sign)))
      return refused(fmt::format("stopped while waiting for {}", need.name));
    pollfd end = {beside.app->exit_fd(), POLLIN, 0};
    ::poll(&end, 1, kLook.count());
  }
}

class NeedsOfRun final : public Needs {
 public:
  NeedsOfRun(const net::Endpoint& endpoint, bool keeps_groups, const NeedsRequest& request)
      : engine_(endpoint), keeps_groups_(keeps_groups), request_(request) {
    engine_.set_patience(kPatience);
  }
  NeedsOfRun(const NeedsOfRun&) = delete;
  NeedsOfRun& operator=(const NeedsOfRun&) = delete;
  ~NeedsOfRun() override {
    besides_.clear();
    if (own_network_) (void)!engine_.remove_network(network_);
  }

  void while_wanted(StillWanted wanted) { engine_.set_wanted(std::move(wanted)); }

  Result<void> start(const Waiting& waiting) {
    ASSAY_TRY(const DockerArgs args, parse_docker_args(request_.target.docker_args));
    network_ = args.network;
    if (is_usual(args.network)) {
      network_ = name();
      ASSAY_CHECK(
          engine_.create_network(network_, labels(request_.session_id, request_.run, owner_)));
      own_network_ = true;
    }
    for (const auto& need : request_.target.needs) {
      ASSAY_CHECK(start_one(need));
      ASSAY_CHECK(await(besides_.back(), waiting));
      ASSAY_CHECK(learn_address(need.name));
    }
    return {};
  }

  const std::string& network() const override { return network_; }

  void put_into(Request& request) const override {
    request.network = network_;
    request.hosts = hosts_;
  }

  std::vector<Member> members() const override {
    std::vector<Member> all;
    for (const auto& beside : besides_) all.push_back({beside.need.name, beside.app->target()});
    return all;
  }

  void poll() override {
    for (auto& beside : besides_) {
      if (!beside.ended_after && !beside.alive())
        beside.ended_after = SteadyClock::now() - beside.started;
    }
  }

  std::vector<NotMeasured> stop(Nanoseconds grace, const Waiting& waiting) override {
    poll();
    for (const auto& beside : besides_) {
      const bool hears = hears_sigterm(SysRoot(), beside.app->target().root);
      if (beside.alive()) beside.app->stop(hears ? StopStep::terminate : StopStep::kill);
    }
    await_ends(grace, waiting);
    for (const auto& beside : besides_) {
      if (beside.alive()) beside.app->stop(StopStep::kill);
    }
    await_ends(kLongestDeath, [](const std::string&) { return true; });
    std::vector<NotMeasured> notes;
    for (auto& beside : besides_) release(beside, notes);
    besides_.clear();
    remove_network();
    return notes;
  }

  std::optional<Error> left_behind() const override { return left_behind_; }

 private:
  std::string name() const { return fmt::format("assay-{}-{}", request_.session_id, request_.run); }

  Result<void> start_one(const Need& need) {
    Beside beside;
    beside.need = need;
    beside.log = request_.folder / (need.name + ".log");
    NewContainer container;
    container.name = fmt::format("{}-{}", name(), need.name);
    if (keeps_groups_) {
      container.group = group_name(fmt::format("{}-need{}", request_.session_id, besides_.size()),
                                   request_.run, owner_);
    }
    container.stdout_file = beside.log;
    container.stderr_file = beside.log;
    auto app =
        start_container(engine_, container, need_body(need, request_, owner_, network_, hosts_));
    if (!app) return refused(fmt::format("{}: {}", need.name, app.error().message));
    beside.app = std::move(*app);
    besides_.push_back(std::move(beside));
    return {};
  }

  /// Not every engine resolves names.
  Result<void> learn_address(const std::string& need) {
    ASSAY_TRY(const std::string address,
              engine_.address(fmt::format("{}-{}", name(), need), network_));
    if (!address.empty()) hosts_.push_back(fmt::format("{}:{}", need, address));
    return {};
  }

  void await_ends(Nanoseconds longest, const Waiting& waiting) {
    const auto until = SteadyClock::now() + longest;
    for (const auto& beside : besides_) {
      while (beside.alive() && SteadyClock::now() < until &&
             waiting(fmt::format("stopping {}", beside.need.name))) {
        pollfd end = {beside.app->exit_fd(), POLLIN, 0};
        ::poll(&end, 1, kLook.count());
      }
    }
  }

  void release(Beside& beside, std::vector<NotMeasured>& notes) {
    const Exit exit = beside.app->release();
    if (beside.ended_after) {
      notes.push_back(
          {beside.need.name, fmt::format("ended {} after its start, before the app: {}",
                                         format_duration(*beside.ended_after), exit.detail)});
    }
    if (const auto left = beside.app->left_behind()) left_behind_ = left;
  }

  void remove_network() {
    if (!own_network_) return;
    own_network_ = false;
    const auto removed = engine_.remove_network(network_);
    if (removed || left_behind_) return;
    left_behind_ = Error{ErrorKind::environment,
                         fmt::format("network {} could not be removed: {}; `assay cleanup` removes "
                                     "it later",
                                     network_, removed.error().message)};
  }

  Engine engine_;
  bool keeps_groups_;
  NeedsRequest request_;
  Owner owner_ = Owner::self(SysRoot());
  std::string network_;
  bool own_network_ = false;  ///< we made it
  std::vector<Beside> besides_;
  std::vector<std::string> hosts_;
  std::optional<Error> left_behind_;
};

}  // namespace

Result<std::unique_ptr<Needs>> start_needs(const net::Endpoint& endpoint, bool keeps_groups,
                                           const NeedsRequest& request, const Waiting& waiting) {
  auto needs = std::make_unique<NeedsOfRun>(endpoint, keeps_groups, request);
  needs->while_wanted([&] { return waiting("waiting for the container daemon"); });
  auto started = needs->start(waiting);
  needs->while_wanted({});
  ASSAY_CHECK(started);
  return needs;
}

std::vector<std::string> refused_needs(const Policy& policy, const DockerArgs& args,
                                       const std::vector<Need>& needs) {
  std::vector<std::string> sentences;
  if (!needs.empty() && !can_be_joined(args.network)) {
    sentences.push_back(
        fmt::format("needs: they cannot be reached from --network {}; leave it out, or name a "
                    "network that they can join",
                    args.network));
  }
  for (const auto& need : needs) {
    for (const auto& sentence : refused_variables(policy, need.env))
      sentences.push_back(fmt::format("needs: {}: {}", need.name, sentence));
  }
  return sentences;
}

Json need_body(const Need& need, const NeedsRequest& request, const Owner& owner,
               const std::string& network, const std::vector<std::string>& hosts) {
  Json body = {{"Image", need.image}};
  if (!need.command.empty()) body["Cmd"] = need.command;
  body["Env"] = environment_list(need.env, request.session_id, request.run, owner);
  body["Labels"] = labels(request.session_id, request.run, owner);
  body["AttachStdout"] = true;
  body["AttachStderr"] = true;
  body["HostConfig"] = {{"LogConfig", {{"Type", "none"}}}, {"NetworkMode", network}};
  if (!hosts.empty()) body["HostConfig"]["ExtraHosts"] = hosts;
  body["NetworkingConfig"]["EndpointsConfig"][network]["Aliases"] = {need.name};
  return body;
}

bool hears_sigterm(const SysRoot& root, pid_t pid) {
  const auto status = root.read(fmt::format("/proc/{}/status", pid)).value_or("");
  constexpr uint64_t kTerm = uint64_t{1} << (SIGTERM - 1);
  for (std::string_view rest = status; !rest.empty();) {
    std::string_view line = next_field(rest, '\n');
    const std::string_view name = next_field(line, ':');
    if (name != "SigCgt" && name != "SigBlk") continue;
    uint64_t mask = 0;
    line = trim(line);
    std::from_chars(line.data(), line.data() + line.size(), mask, 16);
    if ((mask & kTerm) != 0) return true;
  }
  return false;
}

std::string ready_sign(const Need& need) {
  std::string sign;
  if (need.ready_port) sign = fmt::format("port {}", *need.ready_port);
  if (need.ready_log.empty()) return sign;
  return fmt::format("{}{}\"{}\" in its log", sign, sign.empty() ? "" : " and ", need.ready_log);
}

}  // namespace assay::launch
