// SPDX-License-Identifier: Apache-2.0
#include "socket_folder.h"

#include <algorithm>
#include <fmt/format.h>

#include <assay/launch/jobs.h>
#include <assay/launch/launcher.h>
#include <assay/session/new_session.h>
#include <assay/session/session.h>

namespace assay::session {
namespace {

constexpr const char* kMayBeLeft = "containers of sessions that were cut off may still be there";

Result<std::vector<std::string>> remove_containers(const launch::StillWanted& wanted = {}) {
  ASSAY_TRY(const auto containers, launch::find_containers(wanted));
  return containers->clean_up();
}

/// Its `assay` was killed, so that nobody wrote down its end.
bool was_cut_off(const RunRecord& run) {
  const bool cut = run.status == RunStatus::running || run.status == RunStatus::interrupted;
  return cut && !run.sampling && run.exit.detail.empty();
}

/// Copies of trials are no Jobs of sessions: whoever tries removes them.
bool is_trial(store::Store& store, const std::string& id) {
  const auto session = store.session(id);
  return session && session->labels.contains(kTrialOf) && session->labels.contains("copy");
}

bool has_cut_off(store::Store& store, const std::string& id, std::string_view runtime) {
  const auto session = store.session(id);
  return session && std::any_of(session->runs.begin(), session->runs.end(), [&](const auto& run) {
           return run.runtime == runtime && was_cut_off(run);
         });
}

/// Containers of sessions that were cut off; who cannot be asked for them is told.
void remove_containers(store::Store& store, const std::vector<std::string>& cut_off,
                       std::vector<std::string>& lines) {
  if (std::none_of(cut_off.begin(), cut_off.end(),
                   [&](const std::string& id) { return has_cut_off(store, id, "docker"); }))
    return;
  const auto removed = remove_containers();
  if (removed) {
    lines.insert(lines.end(), removed->begin(), removed->end());
  } else {
    lines.push_back(
        fmt::format("{}: {}; `assay cleanup` or the next run of an image removes them "
                    "when it answers",
                    kMayBeLeft, removed.error().message));
  }
}

/// Also of sessions that an earlier start has found and marked.
bool any_known(store::Store& store, std::string_view runtime) {
  const auto sessions = store.list();
  return sessions && std::any_of(sessions->begin(), sessions->end(), [&](const auto& session) {
           return session.status == to_string(RunStatus::interrupted) &&
                  has_cut_off(store, session.id, runtime) && !is_trial(store, session.id);
         });
}

void tell_of_jobs(store::Store& store, const std::vector<std::string>& cut_off,
                  std::vector<std::string>& lines) {
  for (const auto& id : cut_off) {
    if (!has_cut_off(store, id, "kubernetes")) continue;
    const bool trial = is_trial(store, id);
    lines.push_back(
        fmt::format("a {} of session {} may still run; {} deletes it, and its deadline ends it",
                    trial ? "trial" : "Job", id,
                    trial ? "`assay cluster trial --clean` or the next trial of that job"
                          : "`assay cleanup` or the next run in its cluster"));
  }
}

std::vector<std::string> end_leftovers(store::Store& store, bool with_containers) {
  SocketFolder::remove_leftovers();
  const auto cut_off = store.cut_off();
  if (!cut_off) return launch::clean_up_leftovers({});
  // Marked last: should we be killed in between, the next start ends what is left.
  std::vector<std::string> lines = launch::clean_up_leftovers(*cut_off);
  if (with_containers) remove_containers(store, *cut_off, lines);
  if (with_containers) tell_of_jobs(store, *cut_off, lines);
  if (auto marked = store.mark_interrupted(*cut_off); !marked) {
    lines.push_back(marked.error().message);
    return lines;
  }
  for (const auto& id : *cut_off) {
    lines.push_back(fmt::format(
        "session {} was cut off; what it measured is kept: assay history show {}", id, id));
  }
  return lines;
}

}  // namespace

std::vector<std::string> recover(store::Store& store) {
  return end_leftovers(store, true);
}

bool may_have_left_jobs(store::Store& store) {
  const auto cut_off = store.cut_off().value_or(std::vector<std::string>());
  return any_known(store, "kubernetes") ||
         std::any_of(cut_off.begin(), cut_off.end(), [&](const std::string& id) {
           return has_cut_off(store, id, "kubernetes") && !is_trial(store, id);
         });
}

namespace {

void clean_up_jobs(store::Store& store, launch::Jobs* jobs, CleanUp& done) {
  if (jobs == nullptr) return;
  const bool known = may_have_left_jobs(store);
  const auto removed = jobs->clean_up();
  if (removed) {
    done.lines.insert(done.lines.end(), removed->begin(), removed->end());
  } else if (known) {
    done.trouble = removed.error();
    done.trouble->message = fmt::format("Jobs of sessions that were cut off may still be there: {}",
                                        removed.error().message);
  } else {
    done.unasked = removed.error();
    done.unasked->message = "Jobs were not looked for: " + removed.error().message;
  }
}

}  // namespace

CleanUp clean_up(store::Store& store, launch::Jobs* jobs, const std::function<bool()>& wanted) {
  CleanUp done;
  if (jobs != nullptr && wanted)
    jobs->while_wanted([wanted](const std::string&) { return wanted(); });
  clean_up_jobs(store, jobs, done);
  if (wanted && !wanted()) return done;
  const auto removed = remove_containers(wanted);
  const auto ended = end_leftovers(store, false);
  done.lines.insert(done.lines.end(), ended.begin(), ended.end());
  if (removed) {
    done.lines.insert(done.lines.end(), removed->begin(), removed->end());
  } else if (any_known(store, "docker")) {
    done.trouble = removed.error();
    done.trouble->message = fmt::format("{}: {}", kMayBeLeft, removed.error().message);
  } else {
    done.lines.push_back(
        fmt::format("containers were not looked for: {}", removed.error().message));
  }
  return done;
}

}  // namespace assay::session
