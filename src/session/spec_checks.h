// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/base/wording.h>
#include <assay/samples/records.h>

/// The rules that hold for a value wherever it is written: in a spec or on the command line.
namespace assay::session {

/// 10 ms to 1 min.
Result<Nanoseconds> check_interval(Nanoseconds interval);
/// 1 to 1000.
Result<int> check_repeat(int64_t repeat);
/// "2", "0.5", "500m" (thousandths of a core).
Result<double> parse_cpus(const std::string& text);
Result<uint64_t> parse_memory(const std::string& text);
Result<uint64_t> parse_pids(const std::string& text);
/// "all", a number of GPUs, or ids as in "0,1".
Result<std::string> parse_gpus(const std::string& text);
/// "1%" or 0.01.
Result<double> parse_loss(const std::string& text);
/// auto, process, docker or kubernetes.
Result<std::string> check_runtime(const std::string& runtime);
/// As `docker run` takes them.
Result<void> check_docker_args(const std::vector<std::string>& words);
/// A path of the command line, which starts from the current folder; an address stays as it is.
std::string from_here(const std::string& path);
/// Known names, each once.
Result<std::vector<std::string>> check_metrics(const std::vector<std::string>& names);
/// Whether this version can measure it; what it cannot is accepted and told as not measured.
bool in_this_version(std::string_view metrics);
Result<void> check_env_name(std::string_view name);
/// Characters that an image reference may have.
Result<void> check_image(std::string_view image);
/// What follows from a whole target rather than from one key.
Result<void> check_target(const Target& target);

/// Adds a goal; one on the same metric and statistic that `goals` had before is replaced.
void merge_goals(std::vector<Goal>& goals, const std::vector<Goal>& added);

}  // namespace assay::session
