// SPDX-License-Identifier: Apache-2.0
// The node daemon's program; all it does is in the room `agent`.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>

#include <assay/agent/agent.h>
#include <assay/base/time.h>

#ifndef ASSAY_VERSION
#define ASSAY_VERSION "0"
#endif

namespace {

void tell(const std::string& line) {
  std::fputs(fmt::format("assay-agent: {}\n", line).c_str(), stderr);
}

}  // namespace

int main(int argc, char** argv) {
  assay::agent::Settings settings;
  CLI::App app("Watches the applications of this node and tells Prometheus about them.");
  app.set_version_flag("--version", "assay-agent " ASSAY_VERSION);
  app.add_option("--listen", settings.listen, "Address of /metrics and the API; '' for none")
      ->capture_default_str();
  app.add_option("--socket", settings.socket, "The same on a unix socket of this machine");
  app.add_option("--hooks", settings.hooks, "Socket that apps report their own metrics to");
  app.add_option("--docker", settings.docker, "Docker's socket, asked for names; '' for none")
      ->capture_default_str();
  app.add_option("--own-share", settings.own_share,
                 "Share of one core above which it reads less often; 0 for no limit")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  const auto add_switch = [&](const char* name, bool& setting, const char* help) {
    app.add_flag_callback(
        name, [&setting] { setting = false; }, help);
  };
  add_switch("--no-containers", settings.containers, "Without the families container_*");
  add_switch("--no-node", settings.node, "Without the families node_*");
  add_switch("--no-characteristics", settings.characteristics, "Without the families char_node_*");
  add_switch("--no-services", settings.services, "Without systemd's services among the apps");
  CLI11_PARSE(app, argc, argv);
  const assay::SystemClock clock;
  assay::agent::Agent agent(assay::SysRoot(), clock, std::move(settings), tell);
  if (auto started = agent.start(); !started) {
    tell(started.error().message);
    return started.error().kind == assay::ErrorKind::input ? 2 : 4;
  }
  agent.run();
  tell("stopped");
  return 0;
}
