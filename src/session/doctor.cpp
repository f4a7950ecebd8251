// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>
#include <unistd.h>

#include <assay/launch/launcher.h>
#include <assay/probes/probe.h>
#include <assay/session/session.h>

namespace assay::session {
namespace {

/// "why; run: command" as probes word it, taken apart.
Capability missing(const NotMeasured& gap, std::string_view divider = "; run: ") {
  const size_t at = gap.why.find(divider);
  if (at == std::string::npos) return {gap.what, false, gap.why, ""};
  return {gap.what, false, gap.why.substr(0, at), gap.why.substr(at + divider.size())};
}

void examine_facilities(std::vector<Capability>& found) {
  for (const auto& [what, facility] : launch::examine_facilities()) {
    found.push_back(facility ? Capability{what, true, *facility, ""}
                             : missing({what, facility.error().message}, "; "));
  }
}

void examine(probes::Probes probes, std::vector<Capability>& found) {
  const SystemClock clock;
  for (auto& probe : probes) {
    MemorySeries memory;
    const std::string name(probe->name());
    auto ready = probe->open(memory);
    if (ready) ready = probe->sample(clock, memory);
    if (!ready) {
      found.push_back(missing({name, ready.error().message}));
      continue;
    }
    std::set<std::string> names;
    for (const auto& info : memory.list()) names.insert(info.name);
    std::string what;
    for (const auto& metric : names) what += (what.empty() ? "" : ", ") + metric;
    found.push_back({name, true, what, ""});
    for (const auto& gap : probe->not_measured()) found.push_back(missing(gap));
  }
}

/// Starts something harmless, to see what can be learnt about an app here.
void examine_an_app(std::vector<Capability>& found) {
  launch::Request request;
  request.session_id = fmt::format("doctor-{}", getpid());
  request.target.command = {"sleep", "60"};
  request.stdout_file = "/dev/null";
  request.stderr_file = "/dev/null";
  const auto launcher = launch::make_process_launcher();
  auto app = launcher->start(request);
  if (!app) {
    found.push_back({"app isolation", false, app.error().message, ""});
    return;
  }
  const std::string isolation = (*app)->isolation();
  if (isolation == "process tree") {
    const auto notes = (*app)->notes();
    found.push_back(
        {"app isolation", false,
         "apps are measured by their process tree, without limits: " +
             (notes.empty() ? "no control group can be made here" : notes.front().why),
         "sudo assay run …, or systemd-run --user --scope -p Delegate=yes assay run …"});
  } else {
    found.push_back({"app isolation", true,
                     fmt::format("each app gets a {} of its own; limits work", isolation), ""});
  }
  examine(probes::app_probes(SysRoot(), (*app)->target()), found);
}

}  // namespace

std::vector<Capability> examine_machine() {
  std::vector<Capability> found;
  examine_an_app(found);
  examine_facilities(found);
  examine(probes::node_probes(SysRoot()), found);
  examine(probes::power_probes(SysRoot()), found);
  return found;
}

}  // namespace assay::session
