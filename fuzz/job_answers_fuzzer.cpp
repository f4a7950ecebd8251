// SPDX-License-Identifier: Apache-2.0
// What a cluster and a node's agent answer about a Job: the agent's table, the list of its pods,
// its events, its node. The first byte chooses between the agent and the rest.
#include "kubernetes/agent_series.h"
#include "kubernetes/job_pod.h"
#include "kubernetes/node_choice.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace {

using namespace assay::launch;

void check_agent(std::string_view text) {
  const auto answer = read_agent_answer(text, "c");
  if (!answer && answer.error().message.empty()) __builtin_trap();
  if (!answer || !answer->app) return;
  ClockOffset clock;
  clock.add(assay::from_unix_ns(1'700'000'000'000'000'000),
            assay::from_unix_ns(1'700'000'000'010'000'000), answer->time);
  assay::MemorySeries kept;
  AgentSeries series("agent on n1");
  series.push(*answer->app, clock, kept);
  series.push(*answer->app, clock, kept);
  for (size_t i = 0; i < kept.list().size(); ++i) {
    const auto one = kept.read(i);
    for (size_t k = 1; k < one->times.size(); ++k)
      if (one->times[k] < one->times[k - 1]) __builtin_trap();
  }
}

void check_cluster(std::string_view text) {
  if (const auto pod = read_job_pod(text)) {
    const auto exit = exit_of(*pod, std::nullopt);
    if (exit.detail.empty()) __builtin_trap();
    // What is told is text, or it throws.
    (void)nlohmann::json(exit.detail + pod->trouble).dump();
    if (const auto named = read_job_pod(text, pod->name); named->name != pod->name)
      __builtin_trap();
  }
  (void)nlohmann::json(why_no_pod(text)).dump();
  (void)device_of(text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'a') {
    check_agent(rest);
  } else {
    check_cluster(rest);
  }
  return 0;
}
