// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/report/report.h>
#include <assay/samples/records.h>
#include <assay/session/spec.h>
#include <assay/store/store.h>

namespace assay::launch {
class Containers;
class Jobs;
}  // namespace assay::launch

namespace assay::session {

/// One run that is going to happen.
struct PlannedRun {
  int target_index = 0;
  int repeat_index = 0;
};

/// What a session would do, in order, and what stands in its way.
struct Plan {
  std::vector<PlannedRun> runs;
  /// The sum of the timeouts; nothing when some run ends only by itself.
  std::optional<Nanoseconds> longest;
  /// With these nothing is started: a missing command, an absent folder, limits that cannot be had.
  std::vector<Diagnostic> errors;
  /// Who runs the images; none where no target has one, or nobody answers.
  std::shared_ptr<launch::Containers> containers;
  /// Who runs those that are for a cluster; none where no target is.
  std::shared_ptr<launch::Jobs> jobs;
};

/// Looks at the machine (does the command exist?) but starts nothing. Finds every error, also those
/// of a draft. `own_cgroup` as in Options; `jobs` is for targets whose runtime is kubernetes, and
/// may be of a cluster that nobody has asked yet.
Plan make_plan(const Spec& spec, bool own_cgroup = true,
               std::shared_ptr<launch::Jobs> jobs = nullptr);
/// The plan for a person: what would run, for how long, with which limits, towards which goals.
std::string describe_plan(const Spec& spec, const Plan& plan);
/// The same for programs: {"app", "runs", "longest_seconds", "targets"}.
Json plan_document(const Spec& spec, const Plan& plan);

/// What is known of a run while it runs.
struct LiveView {
  int run = 0;  ///< from 1
  int runs = 0;
  Nanoseconds elapsed{0};
  std::optional<Nanoseconds> left;  ///< absent: until it exits by itself
  bool stopping = false;
  std::optional<double> cores;
  std::optional<double> memory_bytes;
  std::vector<double> recent_cores;          ///< for a sparkline, oldest first
  std::map<std::string, double> reported;    ///< the app's own metrics, latest values
  std::map<std::string, std::string> units;  ///< of those that told one
};

/// Told about progress, on the thread that runs the session.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void session_started(const SessionRecord& session, int runs) = 0;
  /// Something long before the first run: bytes so far, and of how many where known, else 0.
  /// Several times a second.
  virtual void progress(const std::string& what, uint64_t done, uint64_t total) = 0;
  virtual void run_started(const RunRecord& run) = 0;
  /// A few times a second.
  virtual void live(const LiveView& view) = 0;
  virtual void run_ended(const RunRecord& run, const std::string& answer) = 0;
  /// Whether live() and app_output() would be taken at once, or within `patience`: a terminal that
  /// is stopped, or a reader that sleeps, must not hold up the run.
  virtual bool ready(Milliseconds patience) = 0;
  /// What the app wrote since the last call, at most 4 kB of it, when Options::follow is set.
  virtual void app_output(std::string_view text) = 0;
  /// Something worth a line: a leftover that was cleaned up, a limit that was not applied.
  virtual void note(const std::string& text) = 0;
};

struct Options {
  std::filesystem::path store_file;
  std::filesystem::path sessions_folder;  ///< each session gets a folder in it
  int interrupt_fd = -1;                  ///< readable: the user wants to stop (again: at once)
  bool follow = false;
  bool own_cgroup = true;  ///< give each app a control group where one can be made
  bool lock = true;        ///< one session at a time on this device
  Nanoseconds wait{0};     ///< for another one to end; Nanoseconds::max(): as long as it takes
  std::map<std::string, std::string> labels;
};

struct Outcome {
  report::SessionView view;
  bool interrupted = false;
  std::optional<Error>
      trouble;  ///< storing or writing failed; what was measured until then is kept
};

/// Does what was planned for the spec without errors, one run after the other; a failing one does
/// not stop the others. Leaves the session in the history and its documents in the session's
/// folder.
Result<Outcome> run_session(const Spec& spec, const Plan& plan, const Options& options,
                            Listener& listener);
/// Profiles what already runs, for a while or (0) until it ends. The app is never signalled.
Result<Outcome> attach_session(pid_t pid, Nanoseconds duration, const Spec& spec,
                               const Options& options, Listener& listener);
/// The same for a container, by its id or name.
Result<Outcome> attach_session(const std::string& container, Nanoseconds duration, const Spec& spec,
                               const Options& options, Listener& listener);

/// A session from the history with everything that follows from it.
Result<report::SessionView> load_view(store::Store& store, const std::string& id);
/// Writes session.json, samples.csv, events.csv, junit.xml, report.html into the session's folder.
Result<void> write_documents(const report::SessionView& view, const std::filesystem::path& folder);
/// Ends what dead sessions left behind and marks their runs as interrupted. One line for each.
std::vector<std::string> recover(store::Store& store);
struct CleanUp {
  std::vector<std::string> lines;  ///< what was done, and what was not looked for
  std::optional<Error> unasked;    ///< why no cluster was asked, where no Job is known to be left
  std::optional<Error> trouble;    ///< containers may be left, and no engine can be asked for them
};
/// The same, and removes containers of dead sessions wherever they come from. A machine without an
/// engine is in no trouble unless its history knows a container run that was cut off. With `jobs`
/// also the Jobs of its cluster. Nothing more is begun once `wanted` says no.
CleanUp clean_up(store::Store& store, launch::Jobs* jobs = nullptr,
                 const std::function<bool()>& wanted = {});
/// Whether the history knows a run of a cluster that was cut off, and which may have left a Job.
bool may_have_left_jobs(store::Store& store);

/// One thing that this machine can or cannot measure.
struct Capability {
  std::string what;
  bool available = false;
  std::string detail;  ///< where it is read from, or why it cannot be
  std::string fix;     ///< the command that would enable it; empty: nothing would
};
std::vector<Capability> examine_machine();

}  // namespace assay::session
