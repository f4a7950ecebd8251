// SPDX-License-Identifier: Apache-2.0
#include "series/job_evidence.h"

#include <cmath>
#include <fmt/format.h>

#include <assay/analysis/run_analysis.h>

namespace assay::analysis {
namespace {

constexpr double kLittle = 0.005;  // of a share
constexpr double kPart = 0.2;
constexpr double kSome = 0.5;
constexpr double kMost = 0.9;
constexpr double kLeastRate = 1e4;  // bytes per second

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

std::string rate(double bytes) {
  return format_value(bytes, "bytes per second");
}

std::string pauses(const JobFacts& facts) {
  const std::string idle = fmt::format("idle {} of the time", percent(facts.idle_share));
  if (facts.idle_share < kPart) return "works without long pauses: " + idle;
  if (!std::isfinite(facts.longest_burst)) return "does hardly anything: " + idle;
  return fmt::format("long pauses between bursts of work: {}, bursts of {:.0f} to {:.0f} s", idle,
                     facts.shortest_burst, facts.longest_burst);
}

std::string waits(const JobFacts& facts) {
  if (facts.waits_share >= kPart)
    return fmt::format("waits a little all the time: leaves {} of a core unused between pauses",
                       percent(facts.waits_share));
  if (facts.idle_share >= kPart)
    return fmt::format("leaves only {} of a core unused outside its pauses",
                       percent(facts.waits_share));
  return fmt::format("keeps a core or the GPU full: {} is left unused", percent(facts.waits_share));
}

std::string swing(const JobFacts& facts) {
  const std::string by = percent(facts.cpu_swing);
  if (facts.cpu_swing < kPart) return fmt::format("uses the CPU evenly: it varies by {}", by);
  return fmt::format("uses the CPU unevenly: it varies by {} around its mean", by);
}

std::string gpu(const JobFacts& facts) {
  if (facts.gpu_share < kLittle) return "does not compute on a GPU";
  const char* when = facts.gpu_time_share >= kMost   ? " nearly all the time"
                     : facts.gpu_time_share >= kSome ? " most of the time"
                                                     : " on average, at times only";
  std::string text = fmt::format("uses the GPU at {}{}", percent(facts.gpu_share), when);
  if (facts.gpu_memory > 0)
    text += fmt::format(" and holds {} of its memory", format_value(facts.gpu_memory, "bytes"));
  return text;
}

std::string writes(const JobFacts& facts) {
  if (facts.write_rate < kLeastRate) return "writes next to nothing to disk";
  if (facts.steady_write_rate < kLeastRate)
    return fmt::format("writes to disk only now and then: {} on average", rate(facts.write_rate));
  return fmt::format("writes {} to disk all the time, as much as its memory every {}",
                     rate(facts.steady_write_rate),
                     format_value(facts.memory / facts.steady_write_rate, "seconds"));
}

std::string reads(const JobFacts& facts) {
  if (facts.read_rate < kLeastRate) return "reads next to nothing from disk";
  if (facts.steady_read_rate < kLeastRate)
    return fmt::format("reads from disk only now and then: {} on average", rate(facts.read_rate));
  return fmt::format("reads {} from disk all the time", rate(facts.steady_read_rate));
}

std::string small_results(const JobFacts& facts) {
  if (facts.small_result_share < kPart) return "does not write small results for what it reads";
  const double income =
      facts.read_rate + (std::isfinite(facts.receive_rate) ? facts.receive_rate : 0);
  return fmt::format("writes a small result for what comes in: {} for {}, {} of the time",
                     rate(facts.write_rate), rate(income), percent(facts.small_result_share));
}

std::string answers(const JobFacts& facts) {
  if (facts.answering_share < kLittle) return "does not answer over the network";
  return fmt::format("answers over the network: sends {} during {} of its computing",
                     rate(facts.transmit_rate), percent(facts.answering_share));
}

std::string fetches(const JobFacts& facts) {
  if (facts.fetching_share < kLittle) return "does not fetch data over the network";
  return fmt::format("fetches data over the network: receives {} during {} of its computing",
                     rate(facts.receive_rate), percent(facts.fetching_share));
}

}  // namespace

std::string sentence_about(JobFeature feature, const JobFacts& facts) {
  switch (feature) {
    case JobFeature::idle_share:
      return pauses(facts);
    case JobFeature::waits_share:
      return waits(facts);
    case JobFeature::cpu_swing:
      return swing(facts);
    case JobFeature::gpu_share:
      return gpu(facts);
    case JobFeature::steady_writes:
      return writes(facts);
    case JobFeature::steady_reads:
      return reads(facts);
    case JobFeature::small_results:
      return small_results(facts);
    case JobFeature::answering:
      return answers(facts);
    case JobFeature::fetching:
      return fetches(facts);
  }
  return "";
}

}  // namespace assay::analysis
