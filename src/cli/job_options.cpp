// SPDX-License-Identifier: Apache-2.0
#include "job_options.h"

#include "duration_option.h"
#include "named_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/kubeapi/names.h>
#include <assay/net/http_client.h>

namespace assay::cli {
namespace {

constexpr const char* kGroup = "Runs in a cluster (--runtime kubernetes)";

Result<std::map<std::string, std::string>> parse_selector(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> labels;
  for (const auto& text : texts) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      return bad_input(
          fmt::format("--node-selector: '{}' is not of the form LABEL=VALUE, as in board=orin{}",
                      text, equals == 0 ? "" : "; --each-node-like takes a label alone"));
    labels[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return labels;
}

Result<std::string> read_token(const std::string& file) {
  if (file.empty()) return std::string();
  ASSAY_TRY(const std::string text, read_named_file(file, 65536));
  std::string token(trim(text));
  if (token.empty() || token.find_first_of("\r\n") != token.npos)
    return bad_input(fmt::format("--agent-token-file: {} has to hold one line", file));
  return token;
}

/// Which node, or which kinds.
std::string describe_nodes(const JobArguments& args, const launch::JobSettings& settings) {
  std::string labels;
  for (const auto& [name, value] : settings.node_selector)
    labels += fmt::format("{}{}={}", labels.empty() ? " with " : ",", name, value);
  const auto like = parse_node_like(args.each_node_like);
  const std::string which =
      like ? fmt::format("one of each kind{}, told apart by the label {}{}", labels, like->label,
                         like->pattern == "*" ? "" : ", those that fit " + like->pattern)
           : fmt::format("one{}", labels);
  return which + "; ready, with an agent and room, the one with the fewest pods";
}

}  // namespace

std::string JobArguments::first_given() const {
  if (!node_selector.empty()) return "--node-selector";
  if (!each_node_like.empty()) return "--each-node-like";
  if (!name_space.empty()) return "--namespace";
  if (!agent.empty()) return "--agent";
  if (!agent_namespace.empty()) return "--agent-namespace";
  if (!agent_label.empty()) return "--agent-label";
  if (!agent_token_file.empty()) return "--agent-token-file";
  if (hooks_folder) return "--hooks-folder";
  if (!start_timeout.empty()) return "--start-timeout";
  if (!cluster.context.empty()) return "--context";
  return cluster.kubeconfig.empty() ? "" : "--kubeconfig";
}

void add_agent_options(CLI::App& command, JobArguments& args, const char* group) {
  const auto option = [&](const char* name, auto& into, const char* help, const char* type) {
    command.add_option(name, into, help)->type_name(type)->group(group);
  };
  option("--agent", args.agent, "Ask the node's agent at this address, not by the API server",
         "URL");
  option("--agent-namespace", args.agent_namespace, "Where the agents' pods are (assay)", "NAME");
  option("--agent-label", args.agent_label,
         "By which they are found (app.kubernetes.io/name=assay-agent)", "LABEL=VALUE");
  option("--agent-token-file", args.agent_token_file,
         "With the token that agents want (default: the cluster's secret assay-reader)", "FILE");
}

void add_job_options(CLI::App& command, JobArguments& args) {
  const auto option = [&](const char* name, auto& into, const char* help, const char* type) {
    return command.add_option(name, into, help)->type_name(type)->group(kGroup);
  };
  option("--node-selector", args.node_selector, "Only on a node with these labels",
         "LABEL=VALUE,..")
      ->delimiter(',')
      ->allow_extra_args(false);
  option("--each-node-like", args.each_node_like,
         "Once on each kind of node, told apart by this label, as in model or board=orin*",
         "LABEL[=PATTERN]");
  option("--namespace", args.name_space,
         "Where the Jobs are made (default: that of the context, else default)", "NAME")
      ->check(kubeapi::wrong_namespace);
  add_cluster_options(command, args.cluster, kGroup);
  add_agent_options(command, args, kGroup);
  option("--hooks-folder", args.hooks_folder,
         "The nodes' folder with the agent's socket, mounted for the app at /metrics; '' for none "
         "(/run/assay)",
         "DIR");
  option("--start-timeout", args.start_timeout,
         "How long the app may wait for its node and its image (5m)", "DURATION");
}

Result<launch::JobSettings> job_settings(const JobArguments& args, ClusterNeed need) {
  launch::JobSettings settings;
  if (!args.each_node_like.empty())
    ASSAY_CHECK(parse_node_like(args.each_node_like).map([](const NodeLike&) {}));
  ASSAY_TRY(settings.node_selector, parse_selector(args.node_selector));
  ASSAY_TRY(settings.agent_token, read_token(args.agent_token_file));
  settings.agent_token_file = args.agent_token_file;
  if (!args.agent_namespace.empty()) settings.agent_namespace = args.agent_namespace;
  if (!args.agent_label.empty()) settings.agent_label = args.agent_label;
  settings.agent_url = args.agent;
  if (args.hooks_folder) settings.hooks_folder = *args.hooks_folder;
  if (!args.start_timeout.empty()) {
    ASSAY_TRY(const auto patience, duration_of("--start-timeout", args.start_timeout));
    settings.start_patience = patience;
  }
  // Last: what is typed wrong is wrong in any cluster.
  if (need == ClusterNeed::none) return settings;
  auto access = cluster_access(args.cluster);
  settings.name_space = namespace_of(args.name_space, access);
  if (need == ClusterNeed::plan) return settings;
  if (!access) return fail(access.error());
  settings.access = std::move(*access);
  return settings;
}

std::string describe_cluster(const JobArguments& args, const launch::JobSettings& settings) {
  const std::string& context = args.cluster.context;
  std::string text = fmt::format(
      "cluster     {}{}\n", context.empty() ? "as kubectl finds it" : "context " + context,
      args.cluster.kubeconfig.empty() ? "" : " of " + args.cluster.kubeconfig);
  text += fmt::format("namespace   {}\n", settings.name_space);
  text += fmt::format("node        {}\n", describe_nodes(args, settings));
  text += fmt::format("agent       {}\n",
                      settings.agent_url.empty()
                          ? fmt::format("pod {} in {}, asked by way of the API server",
                                        settings.agent_label, settings.agent_namespace)
                          : "at " + net::shown_url(settings.agent_url));
  text += fmt::format("start       within {}\n", format_duration(settings.start_patience));
  return text;
}

nlohmann::ordered_json cluster_document(const JobArguments& args,
                                        const launch::JobSettings& settings) {
  nlohmann::ordered_json json = {{"namespace", settings.name_space}};
  if (!args.cluster.context.empty()) json["context"] = args.cluster.context;
  if (!settings.node_selector.empty()) json["node_selector"] = settings.node_selector;
  if (!args.each_node_like.empty()) json["each_node_like"] = args.each_node_like;
  if (settings.agent_url.empty()) {
    json["agent"] = {{"namespace", settings.agent_namespace}, {"label", settings.agent_label}};
  } else {
    json["agent"] = {{"url", net::shown_url(settings.agent_url)}};
  }
  json["start_timeout_seconds"] = seconds(settings.start_patience);
  return json;
}

Result<NodeLike> parse_node_like(const std::string& text) {
  const size_t equals = text.find('=');
  NodeLike like = {text.substr(0, equals)};
  if (equals != text.npos) like.pattern = text.substr(equals + 1);
  if (like.label.empty() || like.pattern.empty())
    return bad_input(
        fmt::format("--each-node-like: '{}' is not of the form LABEL or LABEL=PATTERN", text));
  return like;
}

}  // namespace assay::cli
