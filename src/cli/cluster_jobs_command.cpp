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

constexpr const char* kNoJobs =
    "no jobs yet: `assay cluster profile` keeps them; where it runs in the cluster, ask there:\n"
    "  kubectl -n assay exec deploy/assay-profiler -- assay cluster jobs\n";

struct JobsArguments {
  std::string shared;
  bool trials = false;
  bool json = false;
};

nlohmann::json job_json(const cluster::JobSummary& job) {
  nlohmann::json json{{"namespace", job.name_space},  {"name", job.name},
                      {"resource", job.resource},     {"first", format_utc(job.first)},
                      {"last", format_utc(job.last)}, {"gone", job.gone}};
  if (!job.kind.empty()) json["kind"] = job.kind;
  if (!job.trial.empty()) json["trial"] = job.trial;
  if (job.workers > 0) json["workers"] = job.workers;
  if (job.most_gpus) json["gpus"] = *job.most_gpus;
  if (const auto& gpu = job.gpu_percent)
    json["gpu_utilization_percent"] = {{"mean", gpu->mean}, {"p95", gpu->p95}};
  if (const auto& cores = job.cores)
    json["cores"] = {{"mean", cores->mean}, {"p95", cores->p95}, {"max", cores->max}};
  if (job.memory) json["memory_bytes"] = {{"max", job.memory->max}};
  return json;
}

constexpr const char* kRow = "{:<36} {:<12} {:<16} {:>7} {:>4} {:>9} {:>9} {:>10}  {}\n";

void print_row(const cluster::JobSummary& job) {
  const std::string unknown = "-";
  auto seen = format_utc(job.last).substr(0, 16);
  if (!job.gone) seen += ", runs";
  if (!job.trial.empty()) seen += ", trial of " + job.trial;
  fmt::print(kRow, job.name_space + "/" + job.name, job.resource,
             job.kind.empty() ? unknown : job.kind,
             job.workers > 0 ? std::to_string(job.workers) : unknown,
             job.most_gpus ? format_number(*job.most_gpus) : unknown,
             job.gpu_percent ? fmt::format("{:.0f} %", job.gpu_percent->mean) : unknown,
             job.cores ? format_number(job.cores->p95) : unknown,
             job.memory ? format_bytes(job.memory->max) : unknown, seen);
}

void print_table(const std::vector<cluster::JobSummary>& jobs) {
  fmt::print(kRow, "job", "resource", "kind", "workers", "gpus", "gpu mean", "cores p95", "memory",
             "last seen");
  for (const auto& job : jobs) print_row(job);
}

void print_text(const std::vector<cluster::JobSummary>& jobs, size_t hidden) {
  if (!jobs.empty())
    print_table(jobs);
  else if (hidden == 0)
    fmt::print("{}", kNoJobs);
  if (hidden > 0)
    fmt::print("{} short cop{} of trials {} not shown: --trials shows {}\n", hidden,
               hidden == 1 ? "y" : "ies", hidden == 1 ? "is" : "are", hidden == 1 ? "it" : "them");
}

Result<int> list_jobs(const JobsArguments& args, const Context& context) {
  if (args.shared.empty()) ASSAY_CHECK(check_named_store(context));
  ASSAY_TRY(const auto shelf, args.shared.empty() ? store::Shelf::open_sqlite(context.store)
                                                  : store::Shelf::open(args.shared));
  ASSAY_TRY(auto jobs, cluster::list_jobs(*shelf));
  const size_t hidden =
      args.trials ? 0 : std::erase_if(jobs, [](const auto& job) { return !job.trial.empty(); });
  if (args.json) {
    auto all = nlohmann::json::array();
    for (const auto& job : jobs) all.push_back(job_json(job));
    fmt::print("{}\n", all.dump(2));
  } else {
    print_text(jobs, hidden);
  }
  return kDone;
}

}  // namespace

void add_cluster_jobs_command(CLI::App& cluster, Context& context) {
  auto* command = cluster.add_subcommand("jobs", "What jobs used, also those that are long gone");
  command->footer(R"(
Examples:
  assay cluster jobs
  assay cluster jobs --trials
  kubectl -n assay exec deploy/assay-profiler -- assay cluster jobs --json
)");
  auto args = std::make_shared<JobsArguments>();
  command->add_flag("--json", args->json, "As JSON: an array, without what nobody measured");
  command->add_flag(
      "--trials", args->trials,
      "Also the short copies that trials made; without it --json has none of them either");
  command->add_option("--shared", args->shared, "The PostgreSQL that profile keeps them in")
      ->type_name("URL");
  add_store_option(*command, context);
  command->callback([args, &context] {
    context.action = [args, &context] { return list_jobs(*args, context); };
  });
}

}  // namespace assay::cli
