// SPDX-License-Identifier: Apache-2.0
// The operator's policy, and docker arguments judged by it. The first line that is only "%%%"
// divides the input into the two. Whatever a policy says, a message is bounded, and a text that
// says nothing is never a policy.
#include "../src/launch/docker/policy.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include <assay/base/text.h>

namespace {

constexpr size_t kLongestMessage = 40000;

void judge(const assay::launch::Policy& policy, const std::string& arguments) {
  const auto words = assay::split_words(arguments);
  if (!words) return;
  const auto args = assay::launch::parse_docker_args(*words);
  if (!args) return;
  const auto refused = assay::launch::refused_by(policy, *args, {});
  if (args->privileged && !policy.privileged && refused.empty()) __builtin_trap();
  for (const auto& sentence : refused) {
    if (sentence.empty()) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string divider = "\n%%%\n";
  const size_t at = text.find(divider);
  const auto policy = assay::launch::parse_policy(text.substr(0, at), "policy.yaml");
  if (!policy) {
    if (policy.error().message.empty() || policy.error().message.size() > kLongestMessage)
      __builtin_trap();
    return 0;
  }
  for (const auto& rule : policy->mounts) {
    if (!rule.path.is_absolute()) __builtin_trap();
  }
  if (at != std::string::npos) judge(*policy, text.substr(at + divider.size()));
  return 0;
}
