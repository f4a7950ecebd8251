// SPDX-License-Identifier: Apache-2.0
#include "cluster_commands.h"
#include "exit_code.h"

#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/cluster/jobs.h>

namespace assay::cli {
namespace {

struct JobsArguments {
  std::string shared;
  bool json = false;
};

nlohmann::json job_json(const cluster::JobSummary& job) {
  return {{"namespace", job.name_space},
          {"name", job.name},
          {"resource", job.resource},
          {"kind", job.kind},
          {"first", format_utc(job.first)},
          {"last", format_utc(job.last)},
          {"gone", job.gone},
          {"workers", job.workers},
          {"gpus", job.most_gpus},
          {"gpu_utilization_percent", {{"mean", job.gpu_mean}, {"p95", job.gpu_p95}}},
          {"cores", {{"mean", job.cores_mean}, {"p95", job.cores_p95}, {"max", job.cores_max}}},
          {"memory_bytes", {{"max", job.memory_max}}}};
}

void print_table(const std::vector<cluster::JobSummary>& jobs) {
  fmt::print("{:<36} {:<12} {:<16} {:>7} {:>4} {:>9} {:>9} {:>10}  {}\n", "job", "resource", "kind",
             "workers", "gpus", "gpu mean", "cores p95", "memory", "last seen");
  for (const auto& job : jobs) {
    const std::string busy = job.most_gpus > 0 ? fmt::format("{:.0f} %", job.gpu_mean) : "-";
    fmt::print("{:<36} {:<12} {:<16} {:>7} {:>4} {:>9} {:>9} {:>10}  {}{}\n",
               job.name_space + "/" + job.name, job.resource, job.kind.empty() ? "-" : job.kind,
               job.workers, format_number(job.most_gpus), busy, format_number(job.cores_p95),
               format_bytes(job.memory_max), format_utc(job.last).substr(0, 16),
               job.gone ? "" : ", runs");
  }
}

Result<int> list_jobs(const JobsArguments& args, const Context& context) {
  ASSAY_TRY(const auto shelf, args.shared.empty() ? store::Shelf::open_sqlite(context.store)
                                                  : store::Shelf::open(args.shared));
  ASSAY_TRY(const auto jobs, cluster::list_jobs(*shelf));
  if (args.json) {
    auto all = nlohmann::json::array();
    for (const auto& job : jobs) all.push_back(job_json(job));
    fmt::print("{}\n", all.dump(2));
  } else if (jobs.empty()) {
    fmt::print(
        "no jobs yet: `assay cluster profile` keeps them; where it runs in the cluster, ask "
        "there:\n"
        "  kubectl -n assay exec deploy/assay-profiler -- assay cluster jobs\n");
  } else {
    print_table(jobs);
  }
  return kDone;
}

}  // namespace

void add_cluster_jobs_command(CLI::App& cluster, Context& context) {
  auto* command = cluster.add_subcommand("jobs", "What jobs used, also those that are long gone");
  command->footer(R"(
Examples:
  assay cluster jobs
  kubectl -n assay exec deploy/assay-profiler -- assay cluster jobs --json
)");
  auto args = std::make_shared<JobsArguments>();
  command->add_flag("--json", args->json, "As JSON");
  command->add_option("--shared", args->shared, "The PostgreSQL that profile keeps them in")
      ->type_name("URL");
  add_store_option(*command, context);
  command->callback([args, &context] {
    context.action = [args, &context] { return list_jobs(*args, context); };
  });
}

}  // namespace assay::cli
