// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include "log_follower.h"
#include "need_probe.h"
#include "run_parts.h"
#include "spec_checks.h"
#include "stop_sequence.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>

#include <assay/launch/jobs.h>
#include <assay/probes/probe.h>
#include <assay/sampler/sampler.h>

namespace assay::session {
namespace {

namespace fs = std::filesystem;
constexpr Nanoseconds kLivePace = Milliseconds(250);
/// For what the app wrote last, when it has ended.
constexpr auto kReaderPatience = Milliseconds(2000);

bool wants(const Target& target, std::string_view metric) {
  return std::find(target.metrics.begin(), target.metrics.end(), metric) != target.metrics.end();
}

/// Assay itself and all that it starts: playback, the process runtime's app.
probes::AppTarget assay_itself() {
  probes::AppTarget self;
  self.root = ::getpid();
  return self;
}

probes::Probes probes_for(const Target& target, launch::RunningApp& running,
                          const launch::Needs* needs, RunRecord& record) {
  const SysRoot root;
  const probes::AppTarget& app = running.target();
  probes::Probes all = running.remote_probes();
  if (!all.empty()) return all;
  const auto add = [&all](probes::Probes more) {
    for (auto& probe : more) all.push_back(std::move(probe));
  };
  if (wants(target, "system")) {
    add(probes::app_probes(root, app));
    add(probes::node_probes(root));
    std::vector<probes::AppTarget> ours = {app, assay_itself()};
    for (const auto& member : needs ? needs->members() : std::vector<launch::Needs::Member>()) {
      add(need_probes(root, member.name, member.target));
      ours.push_back(member.target);
    }
    all.push_back(probes::others_probe(root, std::move(ours), record.others));
  }
  if (wants(target, "power")) add(probes::power_probes(root));
  return all;
}

/// What was asked for and belongs to a later version.
std::vector<NotMeasured> not_in_this_version(const Target& target) {
  std::vector<NotMeasured> gaps;
  for (const auto& metric : target.metrics) {
    if (!in_this_version(metric))
      gaps.push_back({metric, "this version of Assay cannot measure it yet"});
  }
  return gaps;
}

void keep_gaps(RunRecord& record, const launch::RunningApp& app, const sampler::Sampler& sampler,
               const Target& target) {
  record.not_measured = app.notes();
  for (const auto& gap : sampler.not_measured()) record.not_measured.push_back(gap);
  for (const auto& gap : not_in_this_version(target)) record.not_measured.push_back(gap);
}

/// The loop of one run that has started.
class RunLoop {
 public:
  RunLoop(const RunContext& context, const Target& target, launch::RunningApp& app, Parts& parts,
          bool attached, RunRecord& record)
      : context_(context),
        target_(target),
        app_(app),
        hooks_(parts.hooks.get()),
        supplies_(parts.supplies ? &*parts.supplies : nullptr),
        needs_(parts.needs.get()),
        table_(*parts.table),
        recorder_(*parts.recorder),
        attached_(attached),
        record_(record),
        sampler_(probes_for(target, app, needs_, record), context.clock, table_, target.interval),
        stop_(target.grace),
        follower_(context.folder / fmt::format("run-{}", record.ordinal)) {}

  /// Everything but the app is in place afterwards.
  void open() {
    sampler_.open();
    keep_what_is_known();
    record_.started = app_.started().value_or(context_.clock.now());
  }

  /// Until the app has ended, or is to be watched no longer.
  RunEnd run() {
    while (!ended_) {
      wait();
      if (hooks_ != nullptr) hooks_->poll();
      if (supplies_ != nullptr) supplies_->poll();
      if (needs_ != nullptr) needs_->poll();
      const Timestamp now = context_.clock.now();
      check_exit();
      if (!ended_ && now >= sampler_.next()) sampler_.beat();
      check_wishes(now);
      check_store(now);
      show(now);
    }
    sampler_.last_beat();
    if (hooks_ != nullptr) hooks_->poll();
    if (supplies_ != nullptr) supplies_->finish();
    while (follow(kReaderPatience)) {
    }
    return end_;
  }

  const sampler::Sampler& sampler() const { return sampler_; }
  const RunEnd& end() const { return end_; }
  bool timed_out() const { return timed_out_; }

 private:
  /// Should we be killed, the history still tells how the app ran and what was not measured.
  void keep_what_is_known() {
    keep_gaps(record_, app_, sampler_, target_);
    auto put = context_.store.put_run(context_.session_id, record_);
    if (!put && !put.error().temporary) {
      end_.trouble = put.error();
      stop_.begin(context_.clock.now());
    }
  }

  void wait() {
    Timestamp until = std::min(sampler_.next(), live_due_);
    if (stop_.due()) until = std::min(until, *stop_.due());
    if (const auto end = end_time(); end && !timed_out_) until = std::min(until, *end);
    const Nanoseconds left = std::max(Nanoseconds(0), until - context_.clock.now());
    const timespec timeout = {std::chrono::duration_cast<std::chrono::seconds>(left).count(),
                              (left % std::chrono::seconds(1)).count()};
    std::array<pollfd, 3> fds = {{{app_.exit_fd(), POLLIN, 0},
                                  {hooks_ == nullptr ? -1 : hooks_->fd(), POLLIN, 0},
                                  {context_.options.interrupt_fd, POLLIN, 0}}};
    if (ppoll(fds.data(), fds.size(), &timeout, nullptr) <= 0) return;
    if (fds[2].revents != 0) on_interrupt();
  }

  std::optional<Timestamp> end_time() const {
    if (target_.timeout == Nanoseconds(0)) return std::nullopt;
    return record_.started + target_.timeout;
  }

  void on_interrupt() {
    std::array<char, 1024> drain{};
    (void)!::read(context_.options.interrupt_fd, drain.data(), drain.size());
    end_.interrupted = true;
    stop_.hurry(context_.clock.now());
  }

  void check_exit() {
    if (auto exit = app_.exited()) {
      record_.exit = *exit;
      ended_ = true;
    }
  }

  void check_wishes(Timestamp now) {
    if (ended_) return;
    if (const auto end = end_time(); end && now >= *end && !timed_out_) {
      timed_out_ = true;
      stop_.begin(now);
    }
    // A process that hangs in a driver outlives even SIGKILL; nobody should wait for it forever.
    if (stop_.given_up(now)) ended_ = true;
    if (const auto step = stop_.step(now)) {
      if (attached_) {
        ended_ = true;
      } else {
        app_.stop(*step);
      }
    }
  }

  void check_store(Timestamp now) {
    if (end_.trouble) return;
    if (const auto error = recorder_.error()) {
      end_.trouble = error;
      stop_.begin(now);
    }
  }

  void show(Timestamp now) {
    if (now < live_due_) return;
    live_due_ = now + kLivePace;
    table_.remember_cores();
    if (!context_.listener.ready(Milliseconds(0))) return;
    LiveView view;
    view.run = record_.ordinal;
    view.runs = context_.runs;
    view.elapsed = now - record_.started;
    if (const auto end = end_time()) view.left = std::max(Nanoseconds(0), *end - now);
    view.stopping = stop_.started();
    view.cores = table_.cores();
    view.memory_bytes = table_.memory_bytes();
    view.recent_cores = table_.recent_cores();
    if (hooks_ != nullptr) view.reported = hooks_->latest();
    if (supplies_ != nullptr)
      view.reported.insert(supplies_->latest().begin(), supplies_->latest().end());
    view.units = table_.units();
    context_.listener.live(view);
    follow(Milliseconds(0));
  }

  bool follow(Milliseconds patience) {
    if (!context_.options.follow || attached_) return false;
    return follower_.drain([&] { return context_.listener.ready(patience); },
                           [this](std::string_view text) { context_.listener.app_output(text); });
  }

  const RunContext& context_;
  const Target& target_;
  launch::RunningApp& app_;
  hooks::Server* hooks_;
  RunSupplies* supplies_;
  launch::Needs* needs_;
  LiveTable& table_;
  store::Recorder& recorder_;
  bool attached_;
  RunRecord& record_;
  sampler::Sampler sampler_;
  StopSequence stop_;
  LogFollower follower_;
  Timestamp live_due_;
  bool ended_ = false;
  bool timed_out_ = false;
  RunEnd end_;
};

RunStatus status_of(const RunRecord& record, bool attached, bool timed_out, const RunEnd& end) {
  if (record.exit.oom_killed) return RunStatus::oom;
  if (end.interrupted || end.trouble) return RunStatus::interrupted;
  if (attached) return RunStatus::finished;
  if (timed_out) return RunStatus::timeout;
  return record.exit.code == 0 ? RunStatus::finished : RunStatus::failed;
}

void note_end_of_watching(RunRecord& record) {
  if (record.exit.detail.empty()) {
    record.exit.detail =
        fmt::format("watched for {}; it runs on", format_duration(record.duration()));
  }
}

void could_not_start(RunRecord& record, const Error& error, Timestamp now) {
  record.status = RunStatus::failed;
  record.exit.detail = error.message;
  record.exit.refused = error.kind != ErrorKind::app;
  record.ended = now;
}

/// From the started app to its complete record.
RunEnd watch(const RunContext& context, const Target& target, launch::RunningApp& app, Parts& parts,
             bool attached, RunRecord& record) {
  record.isolation = app.isolation();
  RunLoop loop(context, target, app, parts, attached, record);
  loop.open();
  if (auto begun = app.begin(); !begun) {
    could_not_start(record, begun.error(), context.clock.now());
    return loop.end();
  }
  context.listener.run_started(record);
  RunEnd end = loop.run();
  record.ended = std::max(record.started, app.ended().value_or(context.clock.now()));
  const std::string detail = record.exit.detail;
  record.exit = app.release();
  if (record.exit.detail.empty()) record.exit.detail = detail;
  if (attached) note_end_of_watching(record);
  record.elsewhere = app.elsewhere();
  record.status = status_of(record, attached, loop.timed_out(), end);
  record.sampling = loop.sampler().stats();
  keep_gaps(record, app, loop.sampler(), target);
  for (const auto& gap : parts.gaps) record.not_measured.push_back(gap);
  if (parts.supplies) {
    for (const auto& note : parts.supplies->notes()) record.not_measured.push_back(note);
  }
  if (!end.trouble) end.trouble = app.left_behind();
  return end;
}

/// Sentences of the record repeat what others said: an engine, or the log of what the app needs.
void hide_secrets(RunRecord& record, const Target& target) {
  record.exit.detail = masked_text(record.exit.detail, target);
  for (auto& gap : record.not_measured) gap.why = masked_text(gap.why, target);
}

/// Of another machine only its kernel is known.
BoardState board_of(const RunContext& context) {
  if (context.jobs == nullptr) return probes::read_board_state(SysRoot());
  BoardState board;
  board.kernel = context.jobs->device().kernel;
  return board;
}

RunEnd trouble(Error error) {
  RunEnd end;
  end.trouble = std::move(error);
  return end;
}

}  // namespace

RunEnd run_one(const RunContext& context, const Target& target, const Start& start, bool attached,
               RunRecord& record) {
  std::error_code error;
  fs::create_directories(context.folder / fmt::format("run-{}", record.ordinal), error);
  record.board = board_of(context);
  record.started = context.clock.now();
  record.ended = record.started;
  if (auto put = context.store.put_run(context.session_id, record); !put)
    return trouble(put.error());

  Parts parts = make_parts(context, target, record, attached);
  auto ready = add_supplies(context, target, record, parts);
  record.started = context.clock.now();
  auto app = ready ? start(request_for(context, target, record, parts))
                   : Result<std::unique_ptr<launch::RunningApp>>(fail(ready.error()));
  RunEnd end;
  if (app) {
    end = watch(context, target, **app, parts, attached, record);
  } else {
    could_not_start(record, app.error(), context.clock.now());
    end.interrupted = interrupt_waits(context.options.interrupt_fd);
  }
  if (end.interrupted && !app) {
    record.status = RunStatus::interrupted;
    record.exit.refused = false;
  }
  stop_needs(context, target, parts, record, end);
  hide_secrets(record, target);
  parts.hooks.reset();
  parts.supplies.reset();
  auto losses = parts.recorder->finish();
  if (losses) record.losses = std::move(*losses);
  if (!losses && !end.trouble) end.trouble = losses.error();
  if (auto put = context.store.put_run(context.session_id, record); !put && !end.trouble) {
    end.trouble = put.error();
  }
  if (!end.trouble) {
    if (auto compacted = context.store.compact(context.session_id, record.ordinal); !compacted) {
      context.listener.note(compacted.error().message);
    }
  }
  return end;
}

}  // namespace assay::session
