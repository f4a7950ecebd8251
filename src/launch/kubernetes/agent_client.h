// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kubernetes/agent_answer.h"
#include "kubernetes/clock_offset.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <assay/kubeapi/client.h>
#include <assay/launch/jobs.h>

namespace assay::launch {

/// What agents want to see.
struct AgentToken {
  std::string text = {};  ///< empty: none is shown
  std::string from = {};  ///< "from FILE", "of the secret assay-reader in namespace assay"
};

/// Where a node's agent is.
struct AgentPlace {
  std::string node;
  std::string pod;  ///< of the settings' namespace; empty: at the settings' address
  AgentToken token = {};
};

/// Asks the agent of one node, by way of the API server or directly, and learns how its clock goes.
/// An agent that goes on in another pod is found again. One thread at a time; the clock has to live
/// longer.
class AgentClient {
 public:
  AgentClient(const JobSettings& settings, AgentPlace place, const Clock& clock);

  /// Asked several times a second while an answer is waited for; false ends a question.
  void set_wanted(std::function<bool()> wanted) { client_.set_wanted(std::move(wanted)); }
  /// What it knows of a container at present, within the settings' patience, also when it has to be
  /// found again. An error is one sentence that names the node.
  Result<AgentAnswer> ask(const std::string& container_id, net::Stopper& stopper);
  const ClockOffset& offset() const { return offset_; }
  /// "agent on NODE".
  std::string who() const { return "agent on " + place_.node; }

 private:
  struct Told {
    Result<net::Response> response;
    Timestamp asked;
    Timestamp answered;
  };
  Told send(const std::string& path, Milliseconds patience, net::Stopper& stopper);
  /// Why it, or the API server before it, let us not in.
  std::string refusal(const net::Response& response) const;
  /// Whether another pod on the node is the agent now.
  bool find_again(Milliseconds patience, net::Stopper& stopper);

  const JobSettings settings_;
  AgentPlace place_;
  const Clock& clock_;
  kubeapi::Client client_;
  ClockOffset offset_;
};

/// That of the settings, or else of the secret that the agents' manifests bring. Empty: we may not
/// read it, or there is none.
AgentToken find_token(kubeapi::Client& client, const JobSettings& settings, net::Stopper& stopper);

}  // namespace assay::launch
