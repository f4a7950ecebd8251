// SPDX-License-Identifier: Apache-2.0
#include "cluster_options.h"
#include "commands.h"
#include "exit_code.h"
#include "signals.h"

#include <cstdlib>
#include <fmt/format.h>
#include <memory>

#include <assay/launch/jobs.h>
#include <assay/session/session.h>

namespace assay::cli {
namespace {

struct Cluster {
  ClusterOptions cluster;
  std::string name_space;
};

/// The cluster to look for Jobs in: one that is named, or any where the history knows of some.
Result<std::shared_ptr<launch::Jobs>> find_jobs(const Cluster& cluster, store::Store& store) {
  const bool given = cluster.cluster.given();
  const bool named = given || std::getenv("KUBECONFIG") != nullptr;
  if (!named && !session::may_have_left_jobs(store)) return nullptr;
  auto access = cluster_access(cluster.cluster);
  if (!access && !session::may_have_left_jobs(store) && !given) return nullptr;
  if (!access) return fail(access.error());
  launch::JobSettings settings;
  settings.name_space = namespace_of(cluster.name_space, access);
  settings.access = std::move(*access);
  return launch::open_jobs(std::move(settings));
}

Result<int> clean_up(const Cluster& cluster, const Context& context) {
  ASSAY_TRY(const auto store, store::open_sqlite(context.store));
  const Signals signals;
  ASSAY_TRY(const auto jobs, find_jobs(cluster, *store));
  const session::CleanUp done =
      session::clean_up(*store, jobs.get(), [&] { return !signals.came(); });
  for (const auto& line : done.lines) fmt::print("{}\n", line);
  if (signals.came()) {
    fmt::print(stderr, "assay: interrupted; what was left behind may still be there\n");
    return kInterrupted;
  }
  if (done.trouble) return fail(*done.trouble);
  // Whoever names a cluster wants an answer of it; KUBECONFIG may be there for other things.
  if (done.unasked && cluster.cluster.given()) return fail(*done.unasked);
  if (done.unasked) fmt::print("{}\n", done.unasked->message);
  if (done.lines.empty() && !done.unasked) fmt::print("nothing was left behind\n");
  return kDone;
}

}  // namespace

void add_cleanup_command(CLI::App& app, Context& context) {
  auto* command = app.add_subcommand(
      "cleanup", "Remove containers and processes that sessions left behind when they were killed");
  command->footer(
      "\nEvery `assay run` does this by itself; this command also asks the container daemon at\n"
      "DOCKER_HOST, and the cluster of --kubeconfig or KUBECONFIG for Jobs. What belongs to a\n"
      "session that still runs is left alone.\n");
  auto cluster = std::make_shared<Cluster>();
  add_cluster_options(*command, cluster->cluster);
  command
      ->add_option(
          "--namespace", cluster->name_space,
          "Where Jobs are looked for by an account that may not list those of all (default: that "
          "of the context, else default)")
      ->type_name("NAME");
  add_store_option(*command, context);
  command->callback([cluster, &context] {
    context.action = [cluster, &context] { return clean_up(*cluster, context); };
  });
}

}  // namespace assay::cli
