// SPDX-License-Identifier: Apache-2.0
// The node daemon's program; all it does is in the room `agent`.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

#include <assay/agent/agent.h>
#include <assay/agent/config.h>
#include <assay/base/text.h>
#include <assay/base/time.h>

#ifndef ASSAY_VERSION
#define ASSAY_VERSION "0"
#endif

namespace {

using assay::Result;
using assay::agent::Settings;
using Path = std::filesystem::path;

/// What the command line says; it wins over the config file.
struct Options {
  Path config;
  Path check;
  std::optional<std::string> listen;
  std::optional<Path> socket;
  std::optional<Path> hooks;
  std::optional<Path> docker;
  std::optional<double> own_share;
  std::optional<Path> targets_file;
  std::optional<std::string> remote_write;
  std::optional<Path> queue;
  std::optional<uint64_t> queue_size;
  std::optional<assay::Milliseconds> push_interval;
  bool no_containers = false;
  bool no_node = false;
  bool no_characteristics = false;
  bool no_services = false;
  bool act = false;
};

void tell(const std::string& line) {
  std::fputs(fmt::format("assay-agent: {}\n", line).c_str(), stderr);
}

template <typename Value>
Value checked(const assay::Result<Value>& parsed) {
  if (!parsed) throw CLI::ValidationError(parsed.error().message);
  return *parsed;
}

/// How Prometheus is told.
void add_prometheus(CLI::App& app, Options& options) {
  app.add_option("--targets-file", options.targets_file,
                 "File that tells a Prometheus (file_sd_configs) where to scrape");
  app.add_option("--remote-write", options.remote_write, "Address that samples are pushed to");
  app.add_option("--queue", options.queue, "Folder of samples that are not sent yet");
  app.add_option_function<std::string>(
      "--queue-size",
      [&](const std::string& text) { options.queue_size = checked(assay::parse_bytes(text)); },
      "How large that folder may become [256MB]");
  app.add_option_function<std::string>(
      "--push-interval",
      [&](const std::string& text) {
        options.push_interval =
            std::chrono::duration_cast<assay::Milliseconds>(checked(assay::parse_duration(text)));
      },
      "How often samples are pushed [15s]");
}

void add_options(CLI::App& app, Options& options) {
  const Settings defaults;
  app.add_option("--config", options.config, "File with settings; SIGHUP reads it again");
  app.add_option("--check-config", options.check, "Say what is wrong with such a file, and end");
  app.add_option("--listen", options.listen, "Address of /metrics and the API; '' for none")
      ->default_str(defaults.listen);
  app.add_option("--socket", options.socket, "The same on a unix socket of this machine");
  app.add_option("--hooks", options.hooks, "Socket that apps report their own metrics to");
  app.add_option("--docker", options.docker, "Docker's socket, asked for names; '' for none")
      ->default_str(defaults.docker.native());
  app.add_option("--own-share", options.own_share,
                 "Share of one core above which it reads less often; 0 for no limit")
      ->default_str(fmt::to_string(defaults.own_share))
      ->check(CLI::Range(0.0, 1.0));
  app.add_flag("--no-containers", options.no_containers, "Without the families container_*");
  app.add_flag("--no-node", options.no_node, "Without the families node_*");
  app.add_flag("--no-characteristics", options.no_characteristics,
               "Without the families char_node_*");
  app.add_flag("--no-services", options.no_services, "Without systemd's services among the apps");
  app.add_flag("--act", options.act, "Change limits of apps so that they reach their goals");
}

void lay_over(const Options& options, Settings& settings) {
  const auto take = [](const auto& option, auto& setting) {
    if (option) setting = *option;
  };
  take(options.listen, settings.listen);
  take(options.socket, settings.socket);
  take(options.hooks, settings.hooks);
  take(options.docker, settings.docker);
  take(options.own_share, settings.own_share);
  take(options.targets_file, settings.targets_file);
  take(options.remote_write, settings.remote_write.url);
  take(options.queue, settings.remote_write.queue);
  take(options.queue_size, settings.remote_write.queue_size);
  take(options.push_interval, settings.remote_write.interval);
  settings.containers = settings.containers && !options.no_containers;
  settings.node = settings.node && !options.no_node;
  settings.characteristics = settings.characteristics && !options.no_characteristics;
  settings.services = settings.services && !options.no_services;
  settings.act.enabled = settings.act.enabled || options.act;
  const char* const state = std::getenv("STATE_DIRECTORY");  // as systemd names it
  if (settings.state.empty() && state != nullptr) settings.state = state;
}

Result<Settings> read_file(const Path& file) {
  auto config = assay::agent::read_config(file);
  if (config.errors.empty()) return std::move(config.settings);
  std::vector<std::string> lines;
  for (const auto& error : config.errors) lines.push_back(error.text());
  return assay::bad_input(fmt::format("{}", fmt::join(lines, "\n")));
}

Result<Settings> read_settings(const Options& options) {
  Settings settings;
  if (!options.config.empty()) {
    ASSAY_TRY(settings, read_file(options.config));
  }
  lay_over(options, settings);
  return settings;
}

int bad_config(const assay::Error& error) {
  std::fputs((error.message + "\n").c_str(), stderr);
  return 2;
}

int check(const Path& file) {
  const auto settings = read_file(file);
  if (!settings) return bad_config(settings.error());
  std::puts("ok");
  return 0;
}

int run(const Options& options) {
  auto settings = read_settings(options);
  if (!settings) return bad_config(settings.error());
  assay::agent::Agent::Reread reread;
  if (!options.config.empty()) reread = [&] { return read_settings(options); };
  const assay::SystemClock clock;
  assay::agent::Agent agent(assay::SysRoot(), clock, std::move(*settings), tell, reread);
  if (const auto started = agent.start(); !started) {
    tell(started.error().message);
    return started.error().kind == assay::ErrorKind::input ? 2 : 4;
  }
  agent.run();
  tell("stopped");
  return 0;
}

int begin(int argc, char** argv) {
  Options options;
  CLI::App app("Watches the applications of this node and tells Prometheus about them.");
  app.set_version_flag("--version", "assay-agent " ASSAY_VERSION);
  add_options(app, options);
  add_prometheus(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return options.check.empty() ? run(options) : check(options.check);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return begin(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "assay-agent: unexpected: %s; please report this\n", e.what());
    return 4;
  }
}
