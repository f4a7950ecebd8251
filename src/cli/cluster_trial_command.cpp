// SPDX-License-Identifier: Apache-2.0
#include "cluster_commands.h"
#include "cluster_options.h"
#include "duration_option.h"
#include "exit_code.h"
#include "job_options.h"
#include "named_file.h"
#include "placement_options.h"
#include "prometheus_options.h"
#include "signals.h"
#include "trial_options.h"
#include "trial_preview.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <thread>

#include <assay/base/files.h>
#include <assay/base/process_id.h>
#include <assay/base/wording.h>
#include <assay/cluster/trial_history.h>
#include <assay/cluster/trial_report.h>
#include <assay/kubeapi/annotations.h>
#include <assay/kubeapi/names.h>
#include <assay/net/http_client.h>
#include <assay/session/session.h>
#include <assay/store/store.h>

namespace assay::cli {
namespace {

constexpr const char* kFooter = R"(
Examples:
  assay cluster trial -f job.yaml --gpus 'Tesla-T4:1,2,4;A100:1' --for 3m --metric samples_per_second \
      --prometheus 10.0.0.5 --at-once 2
  assay cluster trial -f job.yaml --gpus 'Tesla-T4:1,2,4;A100:1' --log-pattern 'images/sec: ([0-9.]+)' \
      --want cheapest --price 'Tesla-T4=0.35;A100=2.9'
  assay cluster trial -f job.yaml --gpus 1,2,4 --resource cpu --log-pattern 'step ([0-9]+)' --log-counts
  assay cluster trial -f job.yaml --gpus 1,2,4 --log-pattern '([0-9.]+) it/s' --dry-run
  assay cluster trial --clean -n lab                            removes what a killed call left

Copies of the job run for a few minutes each, one after the other or --at-once, and are removed again. Each is a session of
the history, measured by the agents of its nodes.
)";

struct TrialArguments {
  std::string file;
  std::string gpus;
  std::string name;
  std::string name_space;
  std::string time = "3m";
  std::string warm_up = "30s";
  std::string patience = "2m";
  std::string domain = "ai.centaurus.io";
  cluster::TrialSettings settings;
  QuestionOptions question;
  cluster::PlanLimits limits;
  JobArguments cluster;
  PrometheusOptions prometheus;
  std::string shared;
  bool share_nodes = false;
  bool clean = false;
  bool dry_run = false;
  bool json = false;
};

Result<cluster::TrialSource> read_source(const TrialArguments& args) {
  if (args.file.empty()) return bad_input("name the manifest of a job: -f job.yaml");
  constexpr size_t kLargest = 1U << 20U;
  if (args.file == "-") {
    ASSAY_TRY(const std::string text, read_file("/dev/stdin", kLargest));
    return cluster::read_trial_source(text, "standard input");
  }
  ASSAY_TRY(const std::string text, read_named_file(args.file, kLargest));
  return cluster::read_trial_source(text, args.file);
}

/// As the value of a label: it ends the names of files too.
std::string label_of(std::string name) {
  name = name.substr(0, 60);
  while (!name.empty() && (name.back() == '-' || name.back() == '.')) name.pop_back();
  return name;
}

Result<cluster::TrialSettings> settings_of(const TrialArguments& args,
                                           const cluster::TrialSource& source,
                                           const cluster::Question& question) {
  cluster::TrialSettings settings = args.settings;
  settings.prices = question.prices;
  settings.copy.trial = label_of(args.name.empty() ? source.name : args.name);
  settings.copy.name_space = args.name_space;
  settings.copy.shares_nodes = settings.at_once == 1 || args.share_nodes;
  ASSAY_TRY(settings.time, duration_of("--for", args.time));
  ASSAY_TRY(settings.warm_up, duration_of("--warm-up", args.warm_up));
  ASSAY_TRY(settings.patience, duration_of("--patience", args.patience));
  if (settings.time.count() <= 0) return bad_input("--for has to be longer than nothing");
  ASSAY_CHECK(cluster::check_measure(settings.measure));
  return settings;
}

/// Less when a signal comes; one that came before does not count: what is removed is waited for.
void pause_for(Nanoseconds time, const Signals& signals) {
  constexpr Nanoseconds kStep = std::chrono::milliseconds(100);
  const bool came = signals.came();
  for (; time.count() > 0 && signals.came() == came; time -= kStep)
    std::this_thread::sleep_for(std::min(time, kStep));
}

void say(const std::string& what) {
  fmt::print(stderr, "assay: {}\n", what);
}

/// Keeps trials in the history, where there is one.
class Keeping {
 public:
  Keeping(const TrialArguments& args, const cluster::TrialSource& source,
          const kubeapi::Access& access, const Context& context, const cluster::TrialWorld& world) {
    auto store = store::open_sqlite(context.store);
    auto settings = job_settings(args.cluster, ClusterNeed::none);
    if (!store || !settings) {
      say("trials are not kept in the history: " +
          (store ? settings.error().message : store.error().message));
      return;
    }
    settings->access = access;
    store_ = std::move(*store);
    for (const auto& line : session::recover(*store_)) say(line);
    agents_ = launch::open_agents(*settings, world.clock, world.wanted);
    cluster::TrialHistory::Place place{.sessions_folder = context.store.parent_path() / "sessions",
                                       .note = say,
                                       .wanted = world.wanted};
    place.app.name_space = args.name_space;
    place.app.name = source.name;
    history_.emplace(*store_, *agents_, world.clock, std::move(place));
  }
  /// Null: nothing is kept.
  cluster::TrialHistory* history() { return history_ ? &*history_ : nullptr; }

 private:
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<launch::Agents> agents_;
  std::optional<cluster::TrialHistory> history_;
};

void tell_cleaned(const cluster::CleanedTrials& cleaned) {
  for (const auto& name : cleaned.removed) say(name + " was left over and is being removed");
  for (const auto& why : cleaned.left) say(why);
}

/// Not worth an error: what was learned is kept and printed.
void annotate(kubeapi::Client& client, const kubeapi::ObjectName& original,
              const std::string& domain, const cluster::TrialReport& report) {
  if (original.uid.empty()) return;
  net::Stopper stopper;
  kubeapi::AnnotationWriter writer(client, {.manager = "assay-trial"});
  const auto written =
      writer.write(original, {{domain + "/trial", cluster::report_annotation(report)}}, stopper);
  if (!written || written->outcome != kubeapi::Outcome::done)
    fmt::print(stderr, "assay: {} could not be annotated: {}\n", original.name,
               written ? written->why : written.error().message);
}

/// A person who ended the work is told so.
Result<int> failed(const Error& error, const Signals& signals) {
  if (!signals.came()) return fail(error);
  fmt::print(stderr, "assay: {}\n", error.message);
  return kInterrupted;
}

Result<int> clean(const TrialArguments& args) {
  ASSAY_TRY(const auto access, cluster_access(args.cluster.cluster));
  const Signals signals;
  kubeapi::Client client(access);
  client.set_wanted([&] { return !signals.came(); });
  net::Stopper stopper;
  std::string name = args.name;
  if (name.empty() && !args.file.empty()) {
    ASSAY_TRY(const auto source, read_source(args));
    name = source.name;
  }
  const auto done = cluster::clean_trials(client, SystemClock(), args.name_space, label_of(name),
                                          cluster::Cleaning::all, stopper);
  if (!done) return failed(done.error(), signals);
  const auto& cleaned = *done;
  tell_cleaned(cleaned);
  if (signals.came()) return kInterrupted;
  const size_t count = cleaned.removed.size();
  if (!cleaned.left.empty())
    return refused(fmt::format("{} removed, but not everything could be looked at or removed",
                               count == 0 ? "nothing was" : fmt::format("{} left over,", count)));
  fmt::print("{} left over, {}\n", count == 0 ? "nothing was" : std::to_string(count),
             count == 0 ? "nothing to remove" : "removed");
  return kDone;
}

Result<cluster::TrialReport> report_of(const TrialArguments& args,
                                       const cluster::TrialSource& source) {
  cluster::TrialReport report{
      .kind = source.kind.kind,
      .api_version =
          source.kind.group + (source.kind.group.empty() ? "" : "/") + source.kind.version,
      .name_space = args.name_space,
      .name = source.name,
      .resource = args.settings.copy.resource,
      .unit = args.settings.measure.metric,
      .limits = args.limits};
  if (args.gpus.empty()) return bad_input("name the choices: --gpus 'Tesla-T4:1,2,4;A100:1'");
  ASSAY_TRY(report.choices, cluster::parse_gpu_choices(args.gpus));
  ASSAY_CHECK(read_question(args.question, report.question));
  ASSAY_CHECK(cluster::check_question(report.question, report.choices));
  return report;
}

Result<int> tell(const TrialArguments& args, const cluster::TrialReport& report) {
  if (args.json)
    fmt::print("{}\n", cluster::report_json(report));
  else
    fmt::print("{}", cluster::report_text(report));
  if (report.interrupted) return kInterrupted;
  if (cluster::nothing_is_known(report)) return kRefused;
  return cluster::judge(report).plan.answer ? kDone : kGoalMissed;
}

/// Somebody has to know how fast a copy is.
Result<void> check_throughput(const cluster::TrialSettings& settings,
                              const promapi::PrometheusAccess& prometheus) {
  if (!settings.measure.log_pattern.empty() || !settings.measure.metric.empty()) return {};
  constexpr const char* kWays =
      "--log-pattern 'images/sec: ([0-9.]+)' reads it in the log, --metric NAME takes what the app "
      "reports";
  if (settings.copy.resource == "cpu")
    return bad_input(fmt::format("with --resource cpu, say who knows the throughput: {}", kWays));
  if (!prometheus.url.empty()) return {};
  return bad_input(fmt::format(
      "say who knows the throughput: {}, and --prometheus URL alone takes how busy the GPUs are",
      kWays));
}

Result<int> trial(TrialArguments args, const Context& context) {
  if (args.clean) return clean(args);
  ASSAY_TRY(const auto source, read_source(args));
  const auto access = cluster_access(args.cluster.cluster);
  if (args.name_space.empty()) args.name_space = namespace_of(source.name_space, access);
  ASSAY_TRY(auto report, report_of(args, source));
  ASSAY_TRY(auto settings, settings_of(args, source, report.question));
  report.trial = settings.copy.trial;
  for (const auto& choice : report.choices)
    ASSAY_CHECK(cluster::make_trial_copy(source, choice, settings.copy, 0).map([](const auto&) {}));
  const auto prometheus = prometheus_access(args.prometheus);
  ASSAY_CHECK(check_throughput(settings, prometheus));
  if (args.dry_run) {
    ASSAY_TRY(const auto text,
              trial_preview({source, report, settings, prometheus.url}, args.json));
    fmt::print("{}", text);
    return kDone;
  }
  if (const std::string fixed = cluster::fixed_processes(source); !fixed.empty())
    say(fixed_processes_text(fixed));
  if (!access) return fail(access.error());
  const SysRoot root;
  const ProcessId self = ProcessId::self(root);
  settings.copy.owner = self.text();
  settings.copy.machine = machine_name(root, self);
  const Signals signals;
  const SystemClock clock;
  const cluster::TrialWorld world{.clock = clock,
                                  .wanted = [&] { return !signals.came(); },
                                  .pause = [&](Nanoseconds time) { pause_for(time, signals); },
                                  .doing = say};
  kubeapi::Client client(*access);
  client.set_wanted(world.wanted);
  net::Stopper stopper;
  const auto cleaned = cluster::clean_trials(client, clock, args.name_space, settings.copy.trial,
                                             cluster::Cleaning::unused, stopper);
  if (!cleaned) return failed(cleaned.error(), signals);
  tell_cleaned(*cleaned);
  if (!cleaned->used.empty()) return refused(used_text(cleaned->used.front(), settings.copy));
  std::optional<promapi::Queries> queries;
  if (!prometheus.url.empty()) queries.emplace(prometheus);
  Keeping keeping(args, source, *access, context, world);
  cluster::TrialRunner runner(client, queries ? &*queries : nullptr, world, settings,
                              keeping.history());
  if (const auto ready = runner.prepare(source); !ready) return failed(ready.error(), signals);
  const auto done = cluster::run_trials(runner, world, report);
  if (!done && signals.came()) return failed(done.error(), signals);
  bool kept = true;
  if (!report.trials.empty() || !report.ruled.empty()) {
    ASSAY_TRY(kept, TrialFolder(context.store.parent_path() / "trials", args.shared).keep(report));
  }
  if (!kept)
    say(fmt::format("nothing was measured, so that what earlier trials of {} told is kept",
                    report.trial));
  if (!done) return fail(done.error());
  client.set_wanted([] { return true; });
  if (kept) annotate(client, runner.original(), args.domain, report);
  return tell(args, report);
}

void add_measure_options(CLI::App& command, TrialArguments& args) {
  constexpr const char* kGroup = "Measuring";
  command.add_option("--for", args.time, "How long each is measured (3m)")
      ->type_name("TIME")
      ->group(kGroup);
  command.add_option("--warm-up", args.warm_up, "How long it runs before (30s)")
      ->type_name("TIME")
      ->group(kGroup);
  command
      .add_option("--patience", args.patience,
                  "How long room, images and a silent API server are waited for (2m)")
      ->type_name("TIME")
      ->group(kGroup);
  auto* metric = command
                     .add_option("--metric", args.settings.measure.metric,
                                 "Throughput that the app reports itself, or a counter of units")
                     ->type_name("NAME")
                     ->group(kGroup);
  auto* pattern = command
                      .add_option("--log-pattern", args.settings.measure.log_pattern,
                                  "Throughput in its log: a regular expression with one group")
                      ->type_name("REGEX")
                      ->excludes(metric)
                      ->group(kGroup);
  command
      .add_flag("--log-counts", args.settings.measure.log_counts,
                "These numbers count what is done so far")
      ->needs(pattern)
      ->group(kGroup);
}

void add_choice_options(CLI::App& command, TrialArguments& args) {
  command
      .add_option("-f,--file", args.file,
                  "Manifest of a Job, Pod, MPIJob or PyTorchJob; - for standard input")
      ->type_name("FILE");
  command
      .add_option("--gpus", args.gpus, "Choices: 'Tesla-T4:1,2,4;A100:1', or '1,2,4' of any kind")
      ->type_name("CHOICES");
  command.add_option("--name", args.name, "Of the trials (default: that of the job)")
      ->check(kubeapi::wrong_name)
      ->type_name("NAME");
  command
      .add_option("-n,--namespace", args.name_space,
                  "Where they run (default: as the job, else as the context)")
      ->check(kubeapi::wrong_namespace)
      ->type_name("NAME");
  command
      .add_option("--resource", args.settings.copy.resource,
                  "What is counted (nvidia.com/gpu; cpu can be tried too)")
      ->check(kubeapi::wrong_key)
      ->type_name("NAME");
  command
      .add_option("--node-label", args.settings.copy.node_label,
                  "Label of nodes that names their kind (nvidia.com/gpu.product)")
      ->check(kubeapi::wrong_key)
      ->type_name("KEY");
  command
      .add_option("--priority-class", args.settings.copy.priority_class,
                  "Priority class of the copies (assay-trial, where the cluster has it)")
      ->type_name("NAME");
  command
      .add_option("--at-once", args.settings.at_once,
                  "Most trials at a time, as room allows, each on nodes of its own (1)")
      ->check(CLI::Range(1, 100))
      ->type_name("N");
  command.add_flag("--share-nodes", args.share_nodes,
                   "Trials at once may be on one node, where they can slow each other down");
  auto* most =
      command.add_option("--most", args.limits.most_trials, "Most trials (half of the choices)")
          ->check(CLI::Range(1, 1'000'000));
  command.add_option("--sure", args.limits.sure, "Probability at which the answer is clear (0.98)")
      ->check(CLI::Range(0.5, 1.0));
  command.add_flag("--all", args.limits.every, "Try all choices, each once")->excludes(most);
  command.add_option("--domain", args.domain, "Of the annotation NAME/trial (ai.centaurus.io)")
      ->type_name("NAME");
}

}  // namespace

void add_cluster_trial_command(CLI::App& cluster, Context& context) {
  auto* command = cluster.add_subcommand(
      "trial", "Try a job shortly on several kinds and numbers of GPUs, and say which is best");
  command->footer(kFooter);
  auto args = std::make_shared<TrialArguments>();
  add_choice_options(*command, *args);
  auto* clean = command->add_flag("--clean", args->clean,
                                  "Only remove what trials left; of -f or --name, else all");
  command
      ->add_flag("--dry-run", args->dry_run,
                 "Print what would be tried and one copy of the job, and make nothing")
      ->excludes(clean);
  command->add_flag("--json", args->json, "Print everything as JSON");
  add_measure_options(*command, *args);
  add_question_options(*command, args->question);
  add_cluster_options(*command, args->cluster.cluster, "Cluster");
  add_prometheus_options(*command, args->prometheus,
                         "Prometheus that knows the pods (default: the variable PROMETHEUS_IP)",
                         "Cluster");
  add_agent_options(*command, args->cluster, "Cluster");
  add_shared_option(*command, args->shared);
  add_store_option(*command, context);
  command->callback(
      [args, &context] { context.action = [args, &context] { return trial(*args, context); }; });
}

}  // namespace assay::cli
