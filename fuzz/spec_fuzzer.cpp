// SPDX-License-Identifier: Apache-2.0
// A spec comes from whoever wrote the app, a profile from whoever runs it. The first line that is
// only "%%%" divides the input into the two.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include <assay/samples/goal.h>
#include <assay/session/spec.h>

namespace {

/// All errors of docker_args come in one.
constexpr size_t kLongestMessage = 6000;

void check(const assay::session::SpecResult& result) {
  if (result.spec.has_value() != result.errors.empty()) __builtin_trap();
  for (const auto& error : result.errors) {
    if (error.message.empty() || error.message.size() > kLongestMessage) __builtin_trap();
  }
  if (!result.spec) return;
  if (result.spec->targets.empty()) __builtin_trap();
  for (const auto& target : result.spec->targets) {
    const auto safe = assay::session::masked(target);
    if (safe.command.size() != target.command.size()) __builtin_trap();
    if (safe.docker_args.size() != target.docker_args.size()) __builtin_trap();
    (void)assay::to_json(safe).dump();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string divider = "\n%%%\n";
  const size_t at = text.find(divider);
  if (at == std::string::npos) {
    check(assay::session::parse_spec(text, "spec.yaml"));
  } else {
    check(assay::session::parse_spec(text.substr(0, at), "spec.yaml",
                                     text.substr(at + divider.size()), "profile.yaml"));
  }
  const auto once = assay::session::masked_text(text);
  (void)assay::session::masked_text(once);
  (void)assay::parse_goal(text);
  return 0;
}
