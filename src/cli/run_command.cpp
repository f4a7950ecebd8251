// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"
#include "job_options.h"
#include "live_line.h"
#include "lock_options.h"
#include "node_runs.h"
#include "plan_json.h"
#include "spec_options.h"
#include "terminal.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

#include <assay/base/files.h>
#include <assay/launch/jobs.h>
#include <assay/session/session.h>

namespace assay::cli {
namespace {

struct RunArguments {
  SpecArguments spec;
  ProcessArguments process;
  std::string output;
  std::vector<std::string> labels;
  bool json = false;
  bool quiet = false;
  bool follow = false;
  bool dry_run = false;
  bool no_cgroup = false;
  LockArguments lock;
  JobArguments jobs;
};

/// SIGINT, SIGTERM and SIGHUP as a descriptor: the run's loop decides when to look.
Fd signals_as_descriptor() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A write that fails says so: to a reader that is gone, and beyond a limit on a file's size.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

Result<std::map<std::string, std::string>> parse_labels(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> labels;
  for (const auto& text : texts) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return bad_input(fmt::format("--label: '{}' is not of the form name=value", text));
    }
    labels[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return labels;
}

void add_error(ReadSpec& read, const std::string& message) {
  read.errors.push_back({"", 0, message, ErrorKind::input});
}

void print_last_words(const report::SessionView& view) {
  for (size_t i = 0; i < view.runs.size(); ++i) {
    if (view.runs[i].last_words.empty()) continue;
    const RunRecord& run = view.session.runs[i];
    // A cluster has one log for both.
    const char* const log = run.runtime == "kubernetes" ? "stdout" : "stderr";
    fmt::print(stderr, "\nthe last words of run {} ({}/run-{}/{}.log):\n{}\n", run.ordinal,
               view.session.folder, run.ordinal, log, view.runs[i].last_words);
  }
}

void print_result(const RunArguments& args, const session::Outcome& outcome) {
  if (args.json) {
    fmt::print("{}\n", report::session_document(outcome.view).dump(2));
  } else if (!args.quiet) {
    const Look look = output_look();
    fmt::print("\n{}", report::text_summary(outcome.view, look.color, look.columns));
  }
  std::fflush(stdout);
  print_last_words(outcome.view);
}

/// ", 2 of 4 runs were not started" or nothing.
std::string not_started_words(const SessionRecord& session) {
  const int left = session.not_started();
  if (left == 0) return "";
  return fmt::format(", {} of {} runs {} not started", left, session.planned_runs,
                     left == 1 ? "was" : "were");
}

/// Only a time follows --wait: in `--wait sage.yaml` the word is the spec.
void give_back_spec(RunArguments& args, const Context& context) {
  const bool has_app = !args.spec.what.empty() || !context.behind_dashes.empty() ||
                       !args.process.pid.empty() || !args.process.container.empty();
  auto& wait = args.lock.wait;
  if (has_app || !wait || wait->empty() || parse_duration(*wait)) return;
  args.spec.what = std::exchange(*wait, "");
}

/// The spec of what is to be started, or of what already runs.
ReadProcess read_either(const RunArguments& args, const Context& context) {
  const bool attached = !args.process.pid.empty() || !args.process.container.empty();
  if (attached) {
    ReadProcess process = read_process(args.process, args.spec, context);
    if (args.follow)
      add_error(process.read,
                "--follow does not go with --pid or --container: the output of what "
                "already runs goes elsewhere");
    return process;
  }
  ReadProcess started = {read_spec(args.spec, context), 0, ""};
  if (!args.process.duration.empty())
    add_error(started.read,
              "--for goes with --pid or --container; a command is stopped with --timeout");
  return started;
}

bool is_for_cluster(const session::Spec& spec) {
  return std::any_of(spec.targets.begin(), spec.targets.end(),
                     [](const Target& target) { return target.runtime == "kubernetes"; });
}

/// How to reach the cluster that some target is for; nothing when none is.
std::optional<launch::JobSettings> find_cluster(const RunArguments& args, ReadSpec& read) {
  const std::string given = args.jobs.first_given();
  if (!is_for_cluster(read.spec)) {
    if (!given.empty()) add_error(read, given + " goes with --runtime kubernetes");
    return std::nullopt;
  }
  auto settings = job_settings(args.jobs, args.dry_run ? ClusterNeed::plan : ClusterNeed::yes);
  if (settings) return std::move(*settings);
  read.errors.push_back({"", 0, settings.error().message, settings.error().kind});
  return std::nullopt;
}

bool interrupt_waits(int fd) {
  pollfd waiting = {fd, POLLIN, 0};
  return ::poll(&waiting, 1, 0) > 0;
}

/// Whoever interrupts does not wait for a cluster that does not answer.
std::shared_ptr<launch::Jobs> jobs_for(const std::optional<launch::JobSettings>& cluster,
                                       bool dry_run, int interrupt_fd) {
  if (!cluster) return nullptr;
  auto jobs = dry_run ? launch::plan_jobs(*cluster) : launch::open_jobs(*cluster);
  jobs->while_wanted([interrupt_fd](const std::string&) { return !interrupt_waits(interrupt_fd); });
  return jobs;
}

/// A process that runs is watched once, and looked for when it is.
session::Plan plan_for(const ReadProcess& what, bool own_cgroup,
                       std::shared_ptr<launch::Jobs> jobs) {
  if (!what.attached()) return session::make_plan(what.read.spec, own_cgroup, std::move(jobs));
  session::Plan plan;
  plan.runs.push_back({});
  for (const auto& target : what.read.spec.targets) {
    if (target.timeout > Nanoseconds(0)) plan.longest = target.timeout;
  }
  return plan;
}

/// What to run, and how.
struct Checked {
  ReadProcess what;
  session::Plan plan;
  std::optional<launch::JobSettings> cluster;
};

void print_plan(const RunArguments& args, const Checked& checked) {
  const ReadSpec& read = checked.what.read;
  if (args.json) {
    fmt::print("{}\n", plan_json(read, checked.plan,
                                 checked.cluster ? cluster_document(args.jobs, *checked.cluster)
                                                 : nlohmann::ordered_json()));
    return;
  }
  if (!read.errors.empty()) return;
  fmt::print("{}", session::describe_plan(read.spec, checked.plan));
  if (checked.cluster)
    fmt::print(
        "\n{}what nodes the cluster has is not asked for a plan: a node is chosen when it "
        "runs\n",
        describe_cluster(args.jobs, *checked.cluster));
}

/// That and the labels, or everything that is wrong. A cluster is asked, and signals wait in
/// `interrupts` from then on.
Result<Checked> checked(const RunArguments& args, const Context& context, session::Options& options,
                        Fd& interrupts) {
  Checked checked = {read_either(args, context), {}, {}};
  ReadSpec& read = checked.what.read;
  const auto labels = parse_labels(args.labels);
  if (labels) {
    options.labels = *labels;
  } else {
    add_error(read, labels.error().message);
  }
  if (const auto wait = patience(args.lock)) {
    options.wait = *wait;
  } else {
    add_error(read, wait.error().message);
  }
  checked.cluster = find_cluster(args, read);
  const auto& cluster = checked.cluster;
  if (cluster && !args.dry_run) interrupts = signals_as_descriptor();
  // Each kind of node has a plan of its own.
  const bool each = cluster && !args.jobs.each_node_like.empty() && !args.dry_run;
  const bool unknown = is_for_cluster(read.spec) && !cluster;
  if (!each && !unknown)
    checked.plan =
        plan_for(checked.what, !args.no_cgroup, jobs_for(cluster, args.dry_run, interrupts.get()));
  if (args.dry_run) print_plan(args, checked);
  const auto errors = errors_of(read, checked.plan);
  if (!errors.empty()) return fail(all_of(errors));
  return checked;
}

Result<session::Outcome> start(const Checked& checked, const session::Options& options,
                               session::Listener& listener) {
  const session::Spec& spec = checked.what.read.spec;
  const ReadProcess& what = checked.what;
  if (!what.attached()) return session::run_session(spec, checked.plan, options, listener);
  const Nanoseconds duration = spec.targets.front().timeout;
  if (what.pid != 0) return session::attach_session(what.pid, duration, spec, options, listener);
  return session::attach_session(what.container, duration, spec, options, listener);
}

/// Nothing was measured; a person who wanted it so is told like one who interrupts a run.
Result<int> no_outcome(const Error& error, const Fd& interrupts) {
  if (!interrupt_waits(interrupts.get())) return fail(error);
  fmt::print(stderr, "assay: {}\n", error.message);
  return kInterrupted;
}

Result<int> run(const RunArguments& args, const Context& context) {
  session::Options options;
  Fd interrupts;
  const auto read = checked(args, context, options, interrupts);
  if (!read) return no_outcome(read.error(), interrupts);
  const Checked& job = *read;
  const bool each = !args.jobs.each_node_like.empty();
  if (args.dry_run) return kDone;

  options.store_file = context.store;
  options.sessions_folder = args.output.empty() ? context.store.parent_path() / "sessions"
                                                : std::filesystem::path(args.output);
  options.follow = args.follow;
  options.own_cgroup = !args.no_cgroup;
  options.lock = !args.lock.no_lock;
  if (!interrupts.valid()) interrupts = signals_as_descriptor();
  options.interrupt_fd = interrupts.get();
  if (each) {
    LiveLine line(args.quiet || args.json);
    const auto code = run_on_each_kind(job.what.read.spec, args.jobs.each_node_like, *job.cluster,
                                       {args.json, args.quiet}, options, line);
    return code ? code : no_outcome(code.error(), interrupts);
  }

  Result<session::Outcome> outcome = [&] {
    LiveLine line(args.quiet || args.json);
    return start(job, options, line);
  }();
  if (!outcome) return no_outcome(outcome.error(), interrupts);
  print_result(args, *outcome);
  if (outcome->trouble) {
    fmt::print(stderr, "assay: {}; what was measured before is kept: assay history show {}\n",
               outcome->trouble->message, outcome->view.session.id);
    return exit_code(*outcome->trouble);
  }
  if (outcome->interrupted) {
    fmt::print(stderr, "assay: interrupted{}; what was measured is kept in {}\n",
               not_started_words(outcome->view.session), outcome->view.session.folder);
    return kInterrupted;
  }
  return exit_code(outcome->view);
}

}  // namespace

void add_run_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "run",
      "Profile an application: its spec, an image, a command behind --, or what already runs");
  command->footer(R"(
Examples:
  assay run -- python3 detect.py --input video.mp4
  assay run sage.yaml --timeout 1m --goal 'fps >= 10'
  assay run waggle/app:1.0 -- --use-cpu        an image, with arguments for it
  assay run sage.yaml --profile my-targets.yaml --json > session.json
  assay run --cpus 1.5 --memory 512MB -- ./detector
  assay run waggle/plugin-objectcounter:0.0.0 --timeout 1m
  assay run --pid 4711 --for 30s
  assay run --container detector --for 1m
  assay run --runtime kubernetes --node-selector board=orin waggle/app:1.0 --timeout 1m
  assay run --runtime kubernetes --each-node-like model waggle/app:1.0 --timeout 1m

The app's output goes to run-N/stdout.log and stderr.log in the session's folder; -f shows it as well.
The app's standard input is empty (/dev/null).
One session at a time measures on a device; --wait queues behind another one.
Ctrl-C asks the app to stop as the timeout does; each further Ctrl-C takes the next step at once.
At the timeout the app gets SIGINT, after the grace SIGTERM, then SIGKILL; that is a normal end.
Exit codes: 0 goals met, 99 a goal missed, 2 bad input, 3 the app failed, 4 refused, 130 interrupted.
)");
  auto args = std::make_shared<RunArguments>();
  add_spec_options(*command, args->spec);
  command
      ->add_option("--pid", args->process.pid,
                   "Attach to this running process instead of starting one")
      ->type_name("PID");
  command
      ->add_option("--container", args->process.container,
                   "Attach to this running container, by id or name")
      ->type_name("ID");
  command
      ->add_option("--for", args->process.duration, "How long to watch it (default: until it ends)")
      ->type_name("DURATION");
  command
      ->add_option("--label", args->labels, "A name=value kept with the session; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("-o,--output", args->output, "Folder in which the session gets its own folder")
      ->type_name("DIR");
  command->add_flag("--json", args->json,
                    "Print the session document on standard output; the plan with --dry-run");
  command->add_flag("-q,--quiet", args->quiet, "Print nothing but errors; the exit code tells");
  command->add_flag("-f,--follow", args->follow, "Show the app's own output while it runs");
  command->add_flag("--dry-run", args->dry_run,
                    "Print the plan and start nothing, as `assay check` does");
  command
      ->add_flag("--no-cgroup", args->no_cgroup,
                 "Measure by process tree even where a control group could be made")
      ->envname("ASSAY_NO_CGROUP");
  add_lock_options(*command, args->lock);
  add_job_options(*command, args->jobs);
  add_store_option(*command, context);
  command->callback([args, &context] {
    give_back_spec(*args, context);
    context.action = [args, &context] { return run(*args, context); };
  });
}

}  // namespace assay::cli
