// SPDX-License-Identifier: Apache-2.0
#include "node_runs.h"

#include "exit_code.h"
#include "node_matrix.h"
#include "spec_options.h"

#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <numeric>
#include <poll.h>

namespace assay::cli {
namespace {

bool is_interrupted(const session::Options& options) {
  pollfd waiting = {options.interrupt_fd, POLLIN, 0};
  return ::poll(&waiting, 1, 0) > 0;
}

/// Whoever interrupts does not wait for a cluster that does not answer.
std::shared_ptr<launch::Jobs> jobs_of(launch::JobSettings settings,
                                      const session::Options& options) {
  auto jobs = launch::open_jobs(std::move(settings));
  jobs->while_wanted([&options](const std::string&) { return !is_interrupted(options); });
  return jobs;
}

/// The kinds to run on; `model` is short for the name that NVIDIA's operator gives a node's GPU,
/// where nodes have no label of that name.
Result<std::vector<launch::NodeKind>> find_kinds(launch::Jobs& jobs, NodeLike& like) {
  ASSAY_TRY(auto kinds, jobs.kinds(like.label, like.pattern));
  if (kinds.empty() && like.label == "model") {
    like.label = "nvidia.com/gpu.product";
    ASSAY_TRY(kinds, jobs.kinds(like.label, like.pattern));
  }
  if (!kinds.empty()) return kinds;
  ASSAY_TRY(const std::string there, jobs.told_apart_by(like.label));
  return bad_input(
      fmt::format("--each-node-like: no node that takes pods has the label {}{}; {}", like.label,
                  like.pattern == "*" ? "" : fmt::format(" with {}", like.pattern), there));
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
      session::make_plan(spec, options.own_cgroup, jobs_of(std::move(settings), options));
  if (plan.jobs) row.node = plan.jobs->node();
  const auto failed = [&](const Error& error) {
    row.error = error.message;
    row.interrupted = is_interrupted(options);
    row.code = row.interrupted ? kInterrupted : exit_code(error);
    return std::move(row);
  };
  if (!plan.errors.empty()) return failed(all_of(plan.errors));
  auto outcome = session::run_session(spec, plan, options, listener);
  if (!outcome) return failed(outcome.error());
  row.interrupted = outcome->interrupted;
  row.code = row.interrupted ? kInterrupted : exit_code(outcome->view);
  if (outcome->trouble) {
    row.error = outcome->trouble->message;
    row.code = worse_code(row.code, exit_code(*outcome->trouble));
  }
  row.view = std::move(outcome->view);
  return row;
}

void print_matrix(const std::string& label, const std::vector<MatrixRow>& rows,
                  const MatrixPrint& print) {
  if (print.json) {
    const Json document = matrix_document(label, rows);
    fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
  } else if (!print.quiet) {
    fmt::print("\n{}", matrix_text(label, rows));
    return;
  }
  fmt::print(stderr, "{}", matrix_errors(rows));
}

}  // namespace

Result<int> run_on_each_kind(const session::Spec& spec, const std::string& each_node_like,
                             const launch::JobSettings& settings, const MatrixPrint& print,
                             const session::Options& options, session::Listener& listener) {
  ASSAY_TRY(NodeLike like, parse_node_like(each_node_like));
  ASSAY_TRY(const auto kinds, find_kinds(*jobs_of(settings, options), like));
  std::vector<MatrixRow> rows;
  for (const auto& kind : kinds) {
    const char* const plural = kind.nodes.size() == 1 ? "" : "s";
    listener.note(fmt::format("{}: {} node{}", kind.name, kind.nodes.size(), plural));
    rows.push_back(run_on(kind, spec, settings, like.label, options, listener));
    if (rows.back().interrupted) break;
  }
  print_matrix(like.label, rows, print);
  return std::accumulate(rows.begin(), rows.end(), kDone, [](int worst, const MatrixRow& row) {
    return worse_code(worst, row.code);
  });
}

}  // namespace assay::cli
