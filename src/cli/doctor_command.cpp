// SPDX-License-Identifier: Apache-2.0
#include "commands.h"
#include "exit_code.h"

#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <assay/base/text.h>
#include <assay/probes/probe.h>
#include <assay/session/session.h>

namespace assay::cli {
namespace {

int print_json(const std::vector<session::Capability>& found) {
  Json rows = Json::array();
  for (const auto& c : found) {
    Json row = {{"what", c.what}, {"available", c.available}, {"detail", c.detail}};
    if (!c.fix.empty()) row["fix"] = c.fix;
    rows.push_back(row);
  }
  fmt::print("{}\n", rows.dump(2));
  return kDone;
}

/// Breaks `text` between words so that it fits beside the column of names.
std::string wrapped(const std::string& text) {
  constexpr size_t kWidth = 68;
  const std::string indent(30, ' ');
  std::string out;
  size_t column = 0;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view word = next_field(rest, ' ');
    if (column > 0 && column + 1 + word.size() > kWidth) {
      out += "\n" + indent;
      column = 0;
    }
    if (column > 0) out += ' ';
    out += word;
    column += word.size() + 1;
  }
  return out;
}

Result<int> doctor(bool json) {
  const auto found = session::examine_machine();
  if (json) return print_json(found);
  const Device device = probes::read_device(SysRoot());
  fmt::print("{}: {}, {} cores, {} GB, {}, kernel {}\n\n", device.hostname,
             device.model.empty() ? device.cpu_model : device.model, device.cores,
             (device.memory_bytes + 500'000'000) / 1'000'000'000, device.os, device.kernel);
  const bool color = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  fmt::print("can be measured\n");
  for (const auto& c : found) {
    if (!c.available) continue;
    fmt::print("  {}✓{} {:<25} {}\n", color ? "\033[32m" : "", color ? "\033[0m" : "", c.what,
               wrapped(c.detail));
  }
  fmt::print("\ncannot be measured here\n");
  for (const auto& c : found) {
    if (c.available) continue;
    fmt::print("  – {:<25} {}\n", c.what, wrapped(c.detail));
    if (!c.fix.empty()) fmt::print("    {:<25} to enable it: {}\n", "", c.fix);
  }
  return kDone;
}

}  // namespace

void add_doctor_command(CLI::App& app, Context& context) {
  auto* command =
      app.add_subcommand("doctor", "What this machine can measure, and how to enable the rest");
  command->footer(
      "\nStarts a harmless process for a moment to see what can be learnt about apps here.\n");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "As JSON");
  command->callback([json, &context] { context.action = [json] { return doctor(*json); }; });
}

}  // namespace assay::cli
