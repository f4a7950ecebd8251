// SPDX-License-Identifier: Apache-2.0
#include "cluster_commands.h"
#include "cluster_options.h"
#include "duration_option.h"
#include "exit_code.h"
#include "prometheus_options.h"
#include "signals.h"

#include <array>
#include <climits>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <thread>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/base/quiet_thread.h>
#include <assay/base/text.h>
#include <assay/base/wording.h>
#include <assay/cluster/profiler.h>

namespace assay::cli {
namespace {

constexpr const char* kProfileFooter = R"(
Examples:
  assay cluster profile --prometheus http://10.0.0.5:9090
  assay cluster profile --prometheus http://10.0.0.5:9090 --rounds 1 --listen ''

In a cluster: kubectl apply -k deploy/kubernetes
)";

constexpr const char* kCleanFooter = R"(
Examples:
  assay cluster clean
  assay cluster clean --context lab --domain example.org
)";

struct ProfileArguments {
  cluster::ProfilerSettings settings;
  PrometheusOptions prometheus;
  ClusterOptions cluster;
  std::string interval = "30s";
  std::string patience = "30s";
  std::string keep = "90d";
  std::string shared;
  bool no_history = false;
};

void tell(const std::string& sentence) {
  std::fputs(fmt::format("assay: {}\n", sentence).c_str(), stderr);
}

std::string own_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "assay";
}

/// "90d" too.
Result<Nanoseconds> parse_days(const std::string& text) {
  if (!text.ends_with('d')) return parse_duration(text);
  const auto days = parse_double(std::string_view(text).substr(0, text.size() - 1));
  if (!days || !(*days > 0) || *days > 36'500)
    return bad_input(fmt::format("'{}' is no time, as in 90d", text));
  return from_seconds(*days * 86400);
}

/// What may stand before the slash of an annotation's key.
bool is_domain(std::string_view text) {
  constexpr size_t kLongest = 253;
  const auto is_label = [](std::string_view label) {
    return !label.empty() && !label.starts_with('-') && !label.ends_with('-') &&
           label.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == label.npos;
  };
  if (text.size() > kLongest || text.ends_with('.')) return false;
  do {
    if (!is_label(next_field(text, '.'))) return false;
  } while (!text.empty());
  return true;
}

Result<void> check_domain(const std::string& domain) {
  if (is_domain(domain)) return {};
  return bad_input(
      fmt::format("--domain {}: a domain is small letters, digits and - between dots, as in "
                  "--domain example.org",
                  in_quotes(domain)));
}

/// In a pod, the namespace it is in: replicas agree there who writes.
std::string own_namespace() {
  const auto account = kubeapi::own_service_account();
  if (!account) return "";
  const auto text = read_file(account->folder / "namespace");
  return text ? std::string(trim(*text)) : "";
}

/// Ends the work when a signal comes.
class StopBySignal {
 public:
  explicit StopBySignal(net::Stopper& stopper)
      : thread_([this, &stopper](const std::stop_token& token) {
          while (!token.stop_requested() && !signals_.came())
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
          stopper.stop();
        }) {}

 private:
  Signals signals_;
  std::jthread thread_;
};

Result<int> profile(ProfileArguments& args, const Context& context) {
  auto& settings = args.settings;
  settings.prometheus = prometheus_access(args.prometheus);
  if (settings.prometheus.url.empty())
    return bad_input(
        "say where the cluster's Prometheus is: --prometheus http://HOST:9090 (or PROMETHEUS_IP)");
  ASSAY_CHECK(check_domain(settings.domain));
  ASSAY_TRY(const auto interval, duration_of("--interval", args.interval));
  settings.interval = std::chrono::duration_cast<Milliseconds>(interval);
  if (settings.interval < Milliseconds(1000) || settings.interval > Milliseconds(3'600'000))
    return bad_input(fmt::format("--interval {}: from 1s to 1h", args.interval));
  ASSAY_TRY(settings.keep, parse_days(args.keep));
  const auto patience = parse_duration(args.patience);
  if (!patience || *patience < std::chrono::seconds(1))
    return bad_input(fmt::format("--patience {}: at least 1s", args.patience));
  settings.patience = std::chrono::duration_cast<Milliseconds>(*patience);
  ASSAY_TRY(settings.cluster, cluster_access(args.cluster));
  if (settings.lease_namespace.empty()) settings.lease_namespace = own_namespace();
  settings.identity = fmt::format("{}-{}", own_name(), ::getpid());
  if (!args.no_history)
    settings.history = args.shared.empty() ? context.store.native() : args.shared;
  net::Stopper stopper;
  const StopBySignal stop(stopper);
  ASSAY_TRY(const bool all_done, cluster::profile(settings, tell, stopper));
  // Without a number of rounds, that is how it ends.
  if (all_done) return kDone;
  tell("interrupted before all rounds were done");
  return kInterrupted;
}

Result<int> clean(ProfileArguments& args) {
  ASSAY_CHECK(check_domain(args.settings.domain));
  ASSAY_TRY(args.settings.cluster, cluster_access(args.cluster));
  net::Stopper stopper;
  const StopBySignal stop(stopper);
  ASSAY_TRY(const size_t cleaned, cluster::clean(args.settings, tell, stopper));
  fmt::print("{} object{} cleaned\n", cleaned, cleaned == 1 ? "" : "s");
  return kDone;
}

void add_domain_option(CLI::App& command, ProfileArguments& args) {
  command
      .add_option("--domain", args.settings.domain, "Of the annotations: DOMAIN/gpu-0, DOMAIN/kind")
      ->type_name("NAME")
      ->capture_default_str();
}

}  // namespace

void add_cluster_profile_command(CLI::App& cluster, Context& context) {
  auto* command = cluster.add_subcommand(
      "profile", "Annotate nodes, pods and jobs with what they use and will use");
  command->footer(kProfileFooter);
  auto args = std::make_shared<ProfileArguments>();
  auto& settings = args->settings;
  add_prometheus_options(*command, args->prometheus, "The cluster's Prometheus", "Prometheus");
  add_cluster_options(*command, args->cluster);
  command->add_option("--listen", settings.listen, "Address of /metrics and /healthz; '' for none")
      ->type_name("ADDRESS")
      ->capture_default_str();
  command->add_option("--interval", args->interval, "Time from round to round")
      ->type_name("TIME")
      ->capture_default_str();
  add_domain_option(*command, *args);
  command->add_option("--gpu-resource", settings.gpu_resource, "How the cluster counts GPUs")
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--namespace", settings.lease_namespace,
                   "Where replicas agree who of them writes (default: the pod's own; outside of a "
                   "pod there is only one)")
      ->type_name("NAME");
  command
      ->add_option("--requests", settings.requests_per_second,
                   "To the API server, a second, at most")
      ->type_name("N")
      ->check(CLI::Range(0.1, 1000.0))
      ->capture_default_str();
  command->add_option("--rounds", settings.rounds, "End after so many (default: never)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000));
  command
      ->add_option("--patience", args->patience,
                   "With --rounds: how long to wait for an API server that does not answer")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--keep", args->keep, "For how long the history keeps what is gone")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--shared", args->shared, "Keep the history in a PostgreSQL instead")
      ->type_name("URL");
  command->add_flag("--no-history", args->no_history, "Keep nothing");
  add_store_option(*command, context);
  command->callback(
      [args, &context] { context.action = [args, &context] { return profile(*args, context); }; });
}

void add_cluster_clean_command(CLI::App& cluster, Context& context) {
  auto* command = cluster.add_subcommand(
      "clean", "Take all annotations away that profile and trials have made");
  command->footer(kCleanFooter);
  auto args = std::make_shared<ProfileArguments>();
  add_cluster_options(*command, args->cluster);
  add_domain_option(*command, *args);
  command->callback([args, &context] { context.action = [args] { return clean(*args); }; });
}

}  // namespace assay::cli
