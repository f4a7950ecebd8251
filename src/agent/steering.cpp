// SPDX-License-Identifier: Apache-2.0
#include "steering.h"

#include "act/limits.h"
#include "decide/words.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>  // before Asio, which forgets it

#include <assay/base/files.h>

namespace assay::agent {

namespace asio = boost::asio;
using asio::awaitable;
using Json = nlohmann::ordered_json;

namespace {

constexpr size_t kActions = 50;
constexpr size_t kReadOften = 4;
constexpr size_t kLargestGoals = 4U << 20U;
constexpr auto kPublish = std::chrono::minutes(1);
constexpr auto kSoon = std::chrono::seconds(10);
/// Those who end us wait for half a minute at least.
constexpr auto kLongestEnd = std::chrono::seconds(15);

/// True for as long as it lives.
class Busy {
 public:
  explicit Busy(bool& flag) : flag_(flag) { flag_ = true; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
  ~Busy() { flag_ = false; }

 private:
  bool& flag_;
};

Json limits_json(const LimitChange& limits) {
  Json json = Json::object();
  // No limit is told as null.
  if (limits.cores) json["cores"] = *limits.cores > 0 ? Json(*limits.cores) : Json();
  if (limits.memory_bytes)
    json["memory_bytes"] = *limits.memory_bytes > 0 ? Json(*limits.memory_bytes) : Json();
  return json;
}

std::filesystem::path undo_path(const Settings& settings) {
  return settings.state.empty() ? std::filesystem::path() : settings.state / "limits.json";
}

std::filesystem::path goals_path(const Settings& settings) {
  return settings.state / "goals.json";
}

LimitChange limits_of(const LiveApp& app, const LimitChange& wanted) {
  const auto limits = app.limits_now();
  LimitChange now;
  if (wanted.cores) now.cores = limits.cores().value_or(0);
  if (wanted.memory_bytes) now.memory_bytes = static_cast<uint64_t>(limits.memory.value_or(0));
  return now;
}

/// What is not limited counts as more than any limit.
bool lowers(const Step& step) {
  const auto less = [](auto to, auto from) { return from == 0 || to < from; };
  return step.to.cores ? less(*step.to.cores, *step.from.cores)
                       : less(*step.to.memory_bytes, *step.from.memory_bytes);
}

}  // namespace

Steering::Steering(Parts parts)
    : parts_(std::move(parts)),
      decisions_(parts_.root, parts_.table, parts_.reports, goals_),
      steward_(parts_.settings.act, node()),
      undo_(undo_path(parts_.settings)) {
  decisions_.on_change(
      [this](const std::string& path, const Decision& decision) { changed(path, decision); });
}

NodeSize Steering::node() const {
  return {.cores = static_cast<double>(parts_.device.cores),
          .memory_bytes = static_cast<uint64_t>(parts_.device.memory_bytes)};
}

void Steering::start() {
  read_goals();
  for (auto& [path, original] : undo_.load())
    owed_.add(path, std::move(original), parts_.clock.now());
  recall_goals();
  if (parts_.settings.act.enabled && parts_.settings.state.empty())
    parts_.tell(
        "changes limits, and has no folder to remember them in: should it be killed, they "
        "stay as they are; set `state`");
}

/// What callers had set for those that still run.
void Steering::recall_goals() {
  if (parts_.settings.state.empty()) return;
  const auto text = read_file(goals_path(parts_.settings), kLargestGoals);
  if (!text) {
    std::error_code ignored;
    if (std::filesystem::exists(goals_path(parts_.settings), ignored))
      parts_.tell("goals that were set before are lost: " + text.error().message);
    return;
  }
  kept_goals_ = *text;
  for (const auto& path : goals_.read(*text)) {
    known_.insert(path);
    if (parts_.table.find(path) == nullptr) recalled_.insert(path);
  }
  recalled_until_ = parts_.clock.now() + parts_.settings.linger;
}

/// A full disk is told and does not stop anybody.
void Steering::keep_goals() {
  if (parts_.settings.state.empty()) return;
  const auto file = goals_path(parts_.settings);
  const std::string text = goals_.written();
  if (kept_goals_ == text) return;
  std::error_code ignored;
  if (text.empty()) std::filesystem::remove(file, ignored);
  const auto saved = text.empty() ? Result<void>() : write_file(file, text);
  if (saved)
    kept_goals_ = text;
  else
    parts_.tell(saved.error().message);
}

void Steering::read_goals() {
  specs_.clear();
  if (!parts_.settings.specs.empty()) {
    auto found = read_specs(parts_.settings.specs);
    for (const auto& error : found.errors) parts_.tell(error.text());
    specs_ = std::move(found.specs);
  }
  for (const auto& [path, app] : parts_.table.apps()) identified(*app);
}

const std::vector<Goal>* Steering::spec_goals(const AppIdentity& app) const {
  const auto spec = std::find_if(specs_.begin(), specs_.end(),
                                 [&](const SpecGoals& each) { return each.is_of(app.image); });
  return spec == specs_.end() ? nullptr : &spec->goals;
}

/// What a label says comes before what a spec says.
void Steering::identified(const LiveApp& app) {
  const AppIdentity& identity = app.identity();
  const auto label = identity.labels.find(std::string(kGoalsLabel));
  if (label == identity.labels.end()) {
    not_taken_.erase(identity.path);
    const auto* const goals = spec_goals(identity);
    if (goals != nullptr) known_.insert(identity.path);
    goals_.label(identity.path, goals == nullptr ? std::vector<Goal>() : *goals);
    return;
  }
  known_.insert(identity.path);
  auto goals = parse_goals(label->second);
  if (goals) {
    not_taken_.erase(identity.path);
    goals_.label(identity.path, std::move(*goals));
  } else if (std::exchange(not_taken_[identity.path], label->second) != label->second) {
    parts_.tell(fmt::format("{}: its label {} is not taken: {}", identity.name, kGoalsLabel,
                            goals.error().message));
  }
}

void Steering::beat() {
  const Timestamp now = parts_.clock.now();
  decisions_.beat(now);
  forget_gone();
  publish_all(now);
  if (busy_ || stops_) return;
  if (auto due = owed_.due(parts_.table, pods_ != nullptr, now)) {
    asio::co_spawn(parts_.loop, restore(std::move(*due)), asio::detached);
    return;
  }
  steward_.set(parts_.settings.act);
  if (!parts_.settings.act.enabled) {
    if (!steward_.put_back().empty()) asio::co_spawn(parts_.loop, take_back_all(), asio::detached);
    return;
  }
  if (auto step = steward_.next(decisions_.all(), now))
    asio::co_spawn(parts_.loop, make(std::move(*step)), asio::detached);
}

void Steering::forget_gone() {
  const size_t before = known_.size();
  for (auto path = known_.begin(); path != known_.end();) {
    const LiveApp* const app = parts_.table.find(*path);
    const bool there = app != nullptr ? !app->ended() : parts_.reports.of(*path) != nullptr;
    if (there) recalled_.erase(*path);
    // Apps that only report come back a while after we did.
    if (there || (recalled_.contains(*path) && parts_.clock.now() < recalled_until_)) {
      ++path;
      continue;
    }
    goals_.forget(*path);
    not_taken_.erase(*path);
    leave(*path);
    path = known_.erase(path);
  }
  if (known_.size() < before) keep_goals();
}

/// A container that is started again has the limits that it ended with: these are put back then.
void Steering::leave(const std::string& path) {
  for (const auto& step : steward_.put_back())
    if (step.path == path) owed_.add(path, original_of(path, step.to.cores), parts_.clock.now());
  steward_.forget(path);
  remember();
}

Original Steering::original_of(const std::string& path, std::optional<double> cores) const {
  Original original{.limits = {.cores = cores}};
  if (const LiveApp* const app = parts_.table.find(path)) {
    original.pod_uid = app->identity().group.pod_uid;
    original.container = app->identity().container;
  }
  return original;
}

void Steering::changed(const std::string& path, const Decision& decision) {
  const std::string sentence = sentence_of(decision);
  if (!sentence.empty()) parts_.tell(fmt::format("{} {}", decision.name, sentence));
  if (decision.leak.finding().verdict == Verdict::leaking)
    parts_.tell(fmt::format("{}: {}", decision.name, leak_sentence(decision.evidence)));
  publish(path, decision);
}

void Steering::publish(const std::string& path, const Decision& decision) {
  const auto& file = parts_.settings.advice_file;
  const LiveApp* const app = parts_.table.find(path);
  if (file.empty()) return;
  const auto written = Measurements(file).write(
      measurement_line(parts_.clock.wall(), app ? app->identity() : AppIdentity(), decision));
  if (!written && !publishing_fails_) parts_.tell(written.error().message);
  publishing_fails_ = !written;
}

/// Rules ask for what was measured since some minutes ago, so what lasts is told again.
void Steering::publish_all(Timestamp now) {
  if (parts_.settings.advice_file.empty() || now - last_published_ < kPublish) return;
  last_published_ = now;
  for (const auto& [path, decision] : decisions_.all())
    if (decision.main.finding().verdict != Verdict::unknown) publish(path, decision);
}

awaitable<Result<void>> Steering::apply(std::string path, LimitChange change, Way way) {
  const LiveApp* const app = parts_.table.find(path);
  if (app == nullptr || app->ended()) co_return refused("it is gone");
  // Named, since g++ 12 frees a temporary of an awaited call twice.
  Means means{.root = parts_.root,
              .docker = parts_.settings.docker,
              .pods = pods_,
              .restores = way == Way::restore,
              .hurries = &stops_};
  co_return co_await change_limits(std::move(means), app->identity(), parts_.table.tree().at(path),
                                   app->limits_now(), change);
}

void Steering::note(Step step, const Result<void>& result) {
  if (result) ++steps_[static_cast<size_t>(step.kind)];
  parts_.tell(result ? in_words(step)
                     : fmt::format("could not {}: {}", in_words(step), result.error().message));
  actions_.push_back({parts_.clock.now(), std::move(step), result ? "" : result.error().message});
  if (actions_.size() > kActions) actions_.pop_front();
}

/// A full disk is told and does not stop the step. What is about to be changed is written down
/// before it is. Memory that was given stays.
void Steering::remember() {
  Originals originals = owed_.all();
  for (const auto& step : steward_.put_back())
    originals[step.path] = original_of(step.path, step.to.cores);
  if (under_way_)
    originals.try_emplace(under_way_->path, original_of(under_way_->path, under_way_->from.cores));
  if (const auto saved = undo_.save(originals); !saved) parts_.tell(saved.error().message);
}

awaitable<void> Steering::make(Step step) {
  const Busy busy(busy_);
  if (step.to.cores) under_way_ = step;
  remember();
  const bool undoes = step.kind == Step::Kind::undo;
  const auto result = co_await apply(step.path, step.to, undoes ? Way::restore : Way::change);
  under_way_.reset();
  known_.insert(step.path);
  const Timestamp now = parts_.clock.now();
  if (result)
    steward_.made(step, decisions_.all(), now);
  else
    steward_.failed(step, now);
  // What should be undone still has to be; of what got no answer nobody knows whether it was made.
  if (!result && step.to.cores && (undoes || result.error().temporary))
    owed_.add(step.path, original_of(step.path, undoes ? step.to.cores : step.from.cores),
              now + kSoon);
  remember();
  note(std::move(step), result);
}

awaitable<void> Steering::restore(Owed::Due due) {
  const Busy busy(busy_);
  const LiveApp* const app = parts_.table.find(due.path);
  if (app == nullptr) co_return;
  Step step{Step::Kind::undo,
            due.path,
            app->identity().name,
            due.limits,
            limits_of(*app, due.limits),
            "it was changed before and not put back"};
  const auto result = co_await apply(due.path, due.limits, Way::restore);
  if (result)
    owed_.paid(due.key);
  else
    owed_.failed(due.key, parts_.clock.now());
  remember();
  note(std::move(step), result);
}

/// What cannot be put back now, or not in time, is kept for later.
awaitable<void> Steering::take_back_all() {
  const Busy busy(busy_);
  const auto end = std::chrono::steady_clock::now() + kLongestEnd;
  for (auto& step : steward_.put_back()) {
    const bool late = stops_ && std::chrono::steady_clock::now() >= end;
    auto result = late ? Result<void>(refused("there is no time left"))
                       : co_await apply(step.path, step.to, Way::restore);
    if (!result) owed_.add(step.path, original_of(step.path, step.to.cores), parts_.clock.now());
    steward_.forget(step.path);
    note(std::move(step), result);
  }
  remember();
}

awaitable<void> Steering::until_not_busy() {
  asio::steady_timer timer(parts_.loop);
  while (busy_) {
    timer.expires_after(std::chrono::milliseconds(20));
    co_await timer.async_wait(asio::use_awaitable);
  }
}

awaitable<void> Steering::put_back() {
  stops_ = true;
  co_await until_not_busy();  // a step has to be made before it can be taken back
  forget_gone();
  co_await take_back_all();
}

Result<void> Steering::set_goals(const std::string& path, std::vector<Goal> goals) {
  known_.insert(path);
  goals_.set(path, std::move(goals));
  keep_goals();
  return {};
}

Result<void> Steering::set_limits(const std::string& path, const LimitChange& change) {
  const LiveApp* const app = parts_.table.find(path);
  if (app == nullptr || app->ended())
    return bad_input("only what runs in a control group of its own can be limited");
  ASSAY_CHECK(check_bounds(change, parts_.settings.act, node()));
  Step step{Step::Kind::raise,      path, app->identity().name, change, limits_of(*app, change),
            "a caller asked for it"};
  if (lowers(step)) step.kind = Step::Kind::lower;
  asio::co_spawn(parts_.loop, set_by_caller(std::move(step)), asio::detached);
  return {};
}

/// What a caller sets is not ours to put back.
awaitable<void> Steering::set_by_caller(Step step) {
  co_await until_not_busy();
  const Busy busy(busy_);
  const auto result = co_await apply(step.path, step.to, Way::change);
  if (result && step.to.cores) {
    steward_.forget(step.path);
    owed_.paid(step.path);
  }
  remember();
  note(std::move(step), result);
}

Result<void> Steering::set_interval(const std::string& path, Milliseconds interval,
                                    Nanoseconds length) {
  LiveApp* const app = parts_.table.find(path);
  if (app == nullptr || app->ended())
    return bad_input("only what runs in a control group of its own can be read more often");
  const bool runs = read_often_.contains(path);
  if (!runs && read_often_.size() >= kReadOften)
    return refused(fmt::format("{} apps are read more often already; wait for one of them to end",
                               kReadOften));
  read_often_[path] = {interval, parts_.clock.now() + length};
  app->expect_faster_samples();
  if (!runs) asio::co_spawn(parts_.loop, read_often(path), asio::detached);
  return {};
}

awaitable<void> Steering::read_often(std::string path) {
  asio::steady_timer timer(parts_.loop);
  for (boost::system::error_code error; !error;) {
    const Often often = read_often_.at(path);
    timer.expires_after(often.interval);
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, error));
    LiveApp* const app = parts_.table.find(path);
    const Timestamp now = parts_.clock.now();
    if (app == nullptr || app->ended() || now >= read_often_.at(path).until) break;
    app->sample(now);
  }
  read_often_.erase(path);
}

Result<void> Steering::capture(const std::string& /*path*/, const CaptureRequest& /*request*/) {
  return refused("this agent cannot take captures yet");
}

std::string Steering::advice() const {
  const Timestamp now = parts_.clock.now();
  Json apps = Json::array();
  for (const auto& [path, decision] : decisions_.all()) {
    Json app = {{"id", path}, {"name", decision.name}};
    if (const LiveApp* const live = parts_.table.find(path)) {
      const AppIdentity& identity = live->identity();
      if (identity.group.kind == GroupKind::container) app["container_id"] = identity.group.id;
      if (!identity.pod.empty()) app["pod"] = identity.pod;
      if (!identity.name_space.empty()) app["namespace"] = identity.name_space;
    }
    add_decision(app, decision, now);
    if (app.contains("verdict") || app.contains("advice")) apps.push_back(std::move(app));
  }
  Json actions = Json::array();
  for (const auto& [time, step, error] : actions_) {
    Json action = {
        {"time", format_utc(time)}, {"kind", to_string(step.kind)},   {"id", step.path},
        {"name", step.name},        {"from", limits_json(step.from)}, {"to", limits_json(step.to)},
        {"reason", step.reason}};
    if (!error.empty()) action["error"] = error;
    actions.push_back(std::move(action));
  }
  const Json all = {{"schema", 1},
                    {"time", format_utc(now)},
                    {"acts", parts_.settings.act.enabled},
                    {"apps", apps},
                    {"actions", actions}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace assay::agent
