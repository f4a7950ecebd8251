// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <assay/cluster/reading.h>

namespace assay::cluster {

using promapi::InstantValue;

/// Asks one thing after another and gathers the warnings.
class Asker {
 public:
  Asker(promapi::Queries& queries, net::Stopper* stopper, std::vector<std::string>& warnings)
      : queries_(queries), stopper_(stopper), warnings_(warnings) {}

  /// A question that fails has no answer; only when the first few all fail, nobody is there.
  Result<std::vector<InstantValue>> ask(const std::string& expression) {
    auto answer = queries_.instant(expression, stopper_);
    if (!answer) {
      if (!answered_ && ++failed_ >= kMostFailures) return fail(answer.error());
      last_ = answer.error();
      warn(answer.error().message);
      return std::vector<InstantValue>();
    }
    answered_ = true;
    for (auto& warning : answer->warnings) warn(std::move(warning));
    auto& series = answer->series;
    std::erase_if(series, [](const InstantValue& v) {
      return !std::isfinite(v.value) || std::abs(v.value) > kBlank;
    });
    return std::move(series);
  }
  /// An error when not a single question had an answer.
  Result<void> anybody() const {
    return last_ && !answered_ ? Result<void>(fail(*last_)) : Result<void>();
  }

 private:
  static constexpr int kMostFailures = 3;
  /// DCGM's words for "no value", and all beyond.
  static constexpr double kBlank = 9.2e18;

  void warn(std::string warning) {
    if (std::find(warnings_.begin(), warnings_.end(), warning) == warnings_.end())
      warnings_.push_back(std::move(warning));
  }

  promapi::Queries& queries_;
  net::Stopper* const stopper_;
  std::vector<std::string>& warnings_;
  bool answered_ = false;
  int failed_ = 0;
  std::optional<Error> last_;
};

/// Which of the labels names a node: exporters and their relabelling differ. Empty: none does.
class NodeOf {
 public:
  explicit NodeOf(const NodeNames& nodes) : nodes_(nodes) {}

  /// What node_uname_info says of an instance.
  void learn(const std::string& instance, const std::string& name) {
    by_instance_[instance] = name;
  }

  std::string operator()(const InstantValue& value) const {
    for (const char* label : {"Hostname", "node", "kubernetes_node", "kubernetes_io_hostname",
                              "nodename", "instance"}) {
      const auto& name = value.label(label);
      if (!name.empty() && nodes_.contains(name)) return name;
    }
    const auto& instance = value.label("instance");
    if (const auto known = by_instance_.find(instance);
        known != by_instance_.end() && nodes_.contains(known->second))
      return known->second;
    const auto host = instance.substr(0, instance.rfind(':'));
    return nodes_.contains(host) ? host : "";
  }

 private:
  const NodeNames& nodes_;
  std::map<std::string, std::string> by_instance_;
};

}  // namespace assay::cluster
