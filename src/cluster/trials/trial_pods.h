// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/kubeapi/client.h>
#include <assay/kubeapi/objects.h>

namespace assay::cluster {

/// In the order in which it gets worse.
enum class NodeHealth : uint8_t { well, unready, gone };

/// Questions about the pods of one copy, each by a request or two.
class TrialPods {
 public:
  TrialPods(kubeapi::Client& client, std::string name_space, std::string copy)
      : client_(client), name_space_(std::move(name_space)), copy_(std::move(copy)) {}

  Result<std::vector<kubeapi::Pod>> list(net::Stopper& stopper);
  struct Trouble {
    std::string text = {};       ///< empty: nothing is told
    bool hopeless = false;       ///< it does not go away by waiting
    bool unschedulable = false;  ///< there is no room, or a quota refuses
  };
  /// What keeps them from running, or why they ended: what pods, or else events, say.
  Trouble trouble(net::Stopper& stopper);
  /// The last line that a pod wrote; empty when there is none.
  std::string last_words(const std::string& pod, net::Stopper& stopper);
  /// It is well, too, when nobody tells.
  NodeHealth health(const std::string& node, net::Stopper& stopper);
  /// Its node is asked nothing: for one that cannot answer. Whether it is gone.
  bool remove_at_once(const kubeapi::Pod& pod, net::Stopper& stopper);
  /// With time stamps.
  Result<std::string> log(const std::string& pod, net::Stopper& stopper);

 private:
  std::string event(net::Stopper& stopper);

  kubeapi::Client& client_;
  const std::string name_space_;
  const std::string copy_;
};

}  // namespace assay::cluster
