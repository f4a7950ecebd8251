// SPDX-License-Identifier: Apache-2.0
#include "node_runs.h"

#include "exit_code.h"
#include "node_matrix.h"
#include "spec_options.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::cli {
namespace {

/// The kinds to run on; `model` is short for the name that NVIDIA's operator gives a node's GPU,
/// where nodes have no label of that name.
Result<std::vector<launch::NodeKind>> find_kinds(const launch::JobSettings& settings,
                                                 NodeLike& like) {
  const auto jobs = launch::open_jobs(settings);
  ASSAY_TRY(auto kinds, jobs->kinds(like.label, like.pattern));
  if (kinds.empty() && like.label == "model") {
    like.label = "nvidia.com/gpu.product";
    ASSAY_TRY(kinds, jobs->kinds(like.label, like.pattern));
  }
  if (!kinds.empty()) return kinds;
  return bad_input(fmt::format(
      "--each-node-like: no node that takes pods has the label {}{}; `kubectl get nodes "
      "--show-labels` shows those there are",
      like.label, like.pattern == "*" ? "" : fmt::format(" with {}", like.pattern)));
}

/// One session on a node of that kind.
MatrixRow run_on(const launch::NodeKind& kind, const session::Spec& spec,
                 launch::JobSettings settings, const std::string& label, session::Options options,
                 session::Listener& listener) {
  MatrixRow row;
  row.kind = kind.name;
  settings.node_selector[label] = kind.name;
  options.labels["node-kind"] = kind.name;
  const session::Plan plan =
      session::make_plan(spec, options.own_cgroup, launch::open_jobs(std::move(settings)));
  if (plan.jobs) row.node = plan.jobs->node();
  if (!plan.errors.empty()) {
    row.error = all_of(plan.errors).message;
    return row;
  }
  auto outcome = session::run_session(spec, plan, options, listener);
  if (!outcome) {
    row.error = outcome.error().message;
    return row;
  }
  row.interrupted = outcome->interrupted;
  if (outcome->trouble) row.error = outcome->trouble->message;
  row.view = std::move(outcome->view);
  return row;
}

int worst_code(const std::vector<MatrixRow>& rows) {
  int worst = kDone;
  for (const auto& row : rows) {
    if (row.interrupted) return kInterrupted;
    const int code = row.view ? exit_code(*row.view) : kRefused;
    // Refused, failed, a goal missed, done: as of the runs of one session.
    constexpr std::array kWorstFirst = {kRefused, kAppFailed, kGoalMissed, kDone};
    const auto rank = [&](int c) { return std::find(kWorstFirst.begin(), kWorstFirst.end(), c); };
    if (rank(code) < rank(worst)) worst = code;
  }
  return worst;
}

}  // namespace

Result<int> run_on_each_kind(const session::Spec& spec, const JobArguments& args,
                             const MatrixPrint& print, const session::Options& options,
                             session::Listener& listener) {
  ASSAY_TRY(NodeLike like, parse_node_like(args.each_node_like));
  ASSAY_TRY(const auto settings, job_settings(args));
  ASSAY_TRY(const auto kinds, find_kinds(settings, like));
  std::vector<MatrixRow> rows;
  for (const auto& kind : kinds) {
    const char* const plural = kind.nodes.size() == 1 ? "" : "s";
    listener.note(fmt::format("{}: {} node{}", kind.name, kind.nodes.size(), plural));
    if (print.only_kinds) continue;
    rows.push_back(run_on(kind, spec, settings, like.label, options, listener));
    if (rows.back().interrupted) break;
  }
  if (print.only_kinds) return kDone;
  if (print.json) {
    fmt::print("{}\n", matrix_document(like.label, rows).dump(2));
  } else if (!print.quiet) {
    fmt::print("\n{}", matrix_text(like.label, rows));
  }
  return worst_code(rows);
}

}  // namespace assay::cli
