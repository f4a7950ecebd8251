// SPDX-License-Identifier: Apache-2.0
#include "sqlite/session_rows.h"

#include "json_text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace assay::store {
namespace {

constexpr size_t kMaxCandidates = 10;

/// From the best to the worst; a run that still goes on says more than one that ended well.
constexpr std::array kByBadness = {RunStatus::finished, RunStatus::timeout, RunStatus::running,
                                   RunStatus::failed,   RunStatus::oom,     RunStatus::interrupted};

size_t badness(std::string_view status) {
  const auto known = run_status_from(status).value_or(RunStatus::interrupted);
  return static_cast<size_t>(std::find(kByBadness.begin(), kByBadness.end(), known) -
                             kByBadness.begin());
}

Result<RunRecord> parse_run(std::string_view text) {
  ASSAY_TRY(const Json json, parse_json(text));
  return run_from_json(json);
}

Failure damaged_record(const Database& db, std::string_view session, const Error& error) {
  return refused(fmt::format("session {} in the history {} is damaged: {}", session,
                             db.file().native(), error.message));
}

}  // namespace

Result<void> insert_session(Database& db, const SessionRecord& session) {
  SessionRecord bare = session;
  bare.runs.clear();
  return db.change("INSERT INTO sessions (id, created_ns, record, app) VALUES (?, ?, ?, ?)",
                   session.id, unix_ns(session.created), json_text(to_json(bare)),
                   session.app.full_name());
}

Result<void> put_run_row(Database& db, const std::string& session_id, const RunRecord& run,
                         const ProcessId& writer) {
  const std::string status(to_string(run.status));
  const bool running = run.status == RunStatus::running;
  const auto when_running = [&](uint64_t value) {
    return running && value != 0 ? std::optional(static_cast<int64_t>(value)) : std::nullopt;
  };
  return db.change(
      "INSERT INTO runs (session_id, ordinal, status, record, writer_pid, writer_start, "
      "writer_boot, writer_namespace) "
      "VALUES (?, ?, ?, ?, ?, ?, nullif(?, ''), ?) "
      "ON CONFLICT (session_id, ordinal) DO UPDATE SET status = excluded.status, "
      "record = excluded.record, writer_pid = excluded.writer_pid, "
      "writer_start = excluded.writer_start, writer_boot = excluded.writer_boot, "
      "writer_namespace = excluded.writer_namespace",
      session_id, run.ordinal, status, json_text(to_json(run)),
      when_running(static_cast<uint64_t>(writer.pid)), when_running(writer.start_ticks),
      running ? writer.boot : std::string(), when_running(writer.pid_namespace));
}

Result<bool> has_session(Database& db, const std::string& id) {
  ASSAY_TRY(const int64_t count, db.number("SELECT count(*) FROM sessions WHERE id = ?", id));
  return count > 0;
}

Result<SessionRecord> load_session(Database& db, const std::string& id) {
  ASSAY_TRY(auto row, db.prepare("SELECT record FROM sessions WHERE id = ?"));
  ASSAY_TRY(const bool found, row.bind(id).step());
  if (!found)
    return bad_input(fmt::format("no session '{}' in the history {}", id, db.file().native()));
  auto json = parse_json(row.text(0));
  if (!json) return damaged_record(db, id, json.error());
  auto session = session_from_json(*json);
  if (!session) return damaged_record(db, id, session.error());
  ASSAY_TRY(auto runs, db.prepare("SELECT record FROM runs WHERE session_id = ? ORDER BY ordinal"));
  runs.bind(id);
  while (true) {
    ASSAY_TRY(const bool more, runs.step());
    if (!more) return session;
    auto run = parse_run(runs.text(0));
    if (!run) return damaged_record(db, id, run.error());
    session->runs.push_back(std::move(*run));
  }
}

Result<std::vector<Summary>> list_sessions(Database& db) {
  ASSAY_TRY(auto rows,
            db.prepare("SELECT s.id, s.app, CASE WHEN json_valid(s.record) THEN s.hostname END, "
                       "s.created_ns, r.status "
                       "FROM sessions s LEFT JOIN runs r ON r.session_id = s.id "
                       "ORDER BY s.created_ns DESC, s.id DESC, r.ordinal"));
  std::vector<Summary> list;
  while (true) {
    ASSAY_TRY(const bool more, rows.step());
    if (!more) return list;
    if (list.empty() || list.back().id != rows.text(0)) {
      list.push_back({std::string(rows.text(0)), std::string(rows.text(1)),
                      std::string(rows.text(2)), from_unix_ns(rows.integer(3)), 0, "no runs"});
    }
    if (rows.is_null(4)) continue;
    Summary& summary = list.back();
    const auto status = rows.text(4);
    summary.running = summary.running || status == to_string(RunStatus::running);
    if (++summary.runs == 1 || badness(status) > badness(summary.status)) summary.status = status;
  }
}

Result<std::string> resolve_session(Database& db, const std::string& id) {
  const bool last = id == "last";
  ASSAY_TRY(auto rows,
            last ? db.prepare("SELECT id FROM sessions ORDER BY created_ns DESC, id DESC LIMIT 1")
                 : db.prepare("SELECT id FROM sessions WHERE substr(id, 1, length(?1)) = ?1 "
                              "ORDER BY id"));
  if (!last) rows.bind(id);
  std::vector<std::string> found;
  while (true) {
    ASSAY_TRY(const bool more, rows.step());
    if (!more) break;
    found.emplace_back(rows.text(0));
    if (found.back() == id) return id;
  }
  if (found.size() == 1) return found[0];
  if (found.empty()) {
    return bad_input(
        last ? fmt::format("the history {} has no session yet: `assay run` makes one",
                           db.file().native())
             : fmt::format(
                   "no session '{}' in the history {}: `assay history list` shows what is there",
                   id, db.file().native()));
  }
  const size_t shown = std::min(found.size(), kMaxCandidates);
  return bad_input(fmt::format(
      "'{}' may mean {} sessions, give more of the id: {}{}", id, found.size(),
      fmt::join(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      shown < found.size() ? ", ..." : ""));
}

Result<int64_t> find_run(Database& db, const std::string& session_id, int ordinal) {
  ASSAY_TRY(const int64_t id, db.number("SELECT id FROM runs WHERE session_id = ? AND ordinal = ?",
                                        session_id, ordinal));
  if (id != 0) return id;
  return bad_input(fmt::format("session {} has no run {} in the history {}", session_id, ordinal,
                               db.file().native()));
}

Result<std::vector<RunningRow>> running_rows(Database& db) {
  ASSAY_TRY(auto rows, db.prepare("SELECT id, session_id, writer_pid, writer_start, "
                                  "writer_namespace, writer_boot "
                                  "FROM runs WHERE status = 'running' ORDER BY session_id"));
  std::vector<RunningRow> running;
  while (true) {
    ASSAY_TRY(const bool more, rows.step());
    if (!more) return running;
    running.push_back({rows.integer(0),
                       std::string(rows.text(1)),
                       {static_cast<pid_t>(rows.integer(2)), static_cast<uint64_t>(rows.integer(3)),
                        static_cast<uint64_t>(rows.integer(4)), std::string(rows.text(5))}});
  }
}

Result<Timestamp> last_sign(Database& db, const RunningRow& row) {
  ASSAY_TRY(const int64_t last,
            db.number("SELECT max(last_ns) FROM (SELECT last_ns FROM tail WHERE run_id = ?1 "
                      "UNION ALL SELECT last_ns FROM blocks WHERE run_id = ?1 "
                      "UNION ALL SELECT CASE WHEN json_valid(record) THEN started_ns END FROM runs "
                      "WHERE id = ?1)",
                      row.id));
  return from_unix_ns(last);
}

Result<void> interrupt_run(Database& db, const RunningRow& row) {
  ASSAY_TRY(auto found, db.prepare("SELECT record, ordinal FROM runs WHERE id = ?"));
  ASSAY_CHECK(found.bind(row.id).step());
  auto run = parse_run(found.text(0));
  if (!run || run->ordinal != found.integer(1)) {
    // What is damaged stays as it is, but it does not run.
    return db.change("UPDATE runs SET status = 'interrupted' WHERE id = ?", row.id);
  }
  ASSAY_TRY(const Timestamp last, last_sign(db, row));
  run->status = RunStatus::interrupted;
  run->ended = std::max(run->started, last);
  return put_run_row(db, row.session_id, *run, {});
}

}  // namespace assay::store
