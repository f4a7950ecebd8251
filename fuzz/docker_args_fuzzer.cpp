// SPDX-License-Identifier: Apache-2.0
// What a spec's author passes along for `docker run`. Whatever the words are, the message is
// bounded, and what comes out is fit for the Engine API and for being judged by a policy.
#include "../src/launch/docker/docker_args.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include <assay/base/text.h>

namespace {

constexpr size_t kLongestMessage = 8000;

void check(const assay::launch::DockerArgs& args) {
  for (const auto& mount : args.mounts) {
    if (!mount.target.starts_with('/')) __builtin_trap();
    if (mount.kind == assay::launch::MountKind::bind && !mount.source.starts_with('/'))
      __builtin_trap();
    if (mount.source.find('\0') != std::string::npos) __builtin_trap();
  }
  for (const auto& device : args.devices) {
    if (!device.source.starts_with('/') || !device.target.starts_with('/')) __builtin_trap();
  }
  for (const auto& [name, value] : args.env) {
    if (name.empty() || value.find('\0') != std::string::npos) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto words = assay::split_words(text);
  if (!words) return 0;
  const auto args = assay::launch::parse_docker_args(*words);
  if (args) {
    check(*args);
  } else if (args.error().message.empty() || args.error().message.size() > kLongestMessage) {
    __builtin_trap();
  }
  return 0;
}
