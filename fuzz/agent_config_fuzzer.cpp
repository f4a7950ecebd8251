// SPDX-License-Identifier: Apache-2.0
// The agent's config file: whatever it holds, messages are bounded and have their place, and what
// is taken is within its bounds.
#include <cstddef>
#include <cstdint>
#include <string>

#include <assay/agent/config.h>

namespace {

constexpr size_t kMostErrors = 101;
constexpr size_t kLongestMessage = 4000;

void check(const assay::agent::Settings& settings) {
  using namespace assay::agent;
  if (settings.interval < kShortestInterval || settings.interval > kLongestInterval)
    __builtin_trap();
  if (!(settings.own_share >= 0 && settings.own_share <= 1)) __builtin_trap();
  const auto& act = settings.act;
  if (!(act.least_cores > 0) || (act.most_cores != 0 && !(act.most_cores >= act.least_cores)))
    __builtin_trap();
  for (const auto& token : settings.tokens) {
    if (token.file.empty() || token.roles.empty() || token.roles.size() > 4) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto result = assay::agent::parse_config(text, "agent.yaml");
  if (result.errors.size() > kMostErrors) __builtin_trap();
  for (const auto& error : result.errors) {
    if (error.message.empty() || error.text().size() > kLongestMessage) __builtin_trap();
  }
  if (result.errors.empty()) check(result.settings);
  return 0;
}
