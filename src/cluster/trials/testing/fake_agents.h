// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <assay/base/time.h>
#include <assay/launch/agents.h>

namespace assay::cluster::testing {

/// Tells of two cores that are always busy; nodes whose name begins with "bare" have no agent.
class FakeAgents final : public launch::Agents {
 public:
  explicit FakeAgents(const Clock& clock) : clock_(clock) {}

  Result<std::unique_ptr<launch::AgentWatch>> watch(const std::string& node,
                                                    const std::string& /*container*/) override {
    if (node.starts_with("bare") || absent) return refused("there is no agent on " + node);
    return std::make_unique<Watch>(*this, node);
  }
  Device device(const std::string& node) override {
    Device device;
    device.hostname = node;
    return device;
  }

  bool absent = false;
  bool silent = false;
  double fps = 0;  ///< that is reported; 0: nothing is

 private:
  class Watch final : public launch::AgentWatch {
   public:
    Watch(FakeAgents& agents, std::string node) : agents_(agents), node_(std::move(node)) {}
    Result<bool> look(SampleSink& sink) override {
      if (agents_.silent) return refused("it is silent");
      const Timestamp now = agents_.clock_.now();
      if (!started_) started_ = now;
      const auto id = sink.declare(describe(MetricId::cpu_usage_seconds_total, Scope::app, "fake"));
      sink.sample(id, now, 2 * seconds(now - *started_));
      if (agents_.fps > 0)
        sink.sample(sink.declare({"fps", "", Kind::event, Scope::app, "fake", {}}), now,
                    agents_.fps);
      return true;
    }
    std::optional<Timestamp> started() const override { return started_; }
    std::optional<Timestamp> ended() const override { return std::nullopt; }
    Exit used() const override {
      Exit exit;
      exit.user_seconds = 140;
      return exit;
    }
    Elsewhere elsewhere() const override { return {node_, "agent on " + node_, {}, {}}; }

   private:
    FakeAgents& agents_;
    const std::string node_;
    std::optional<Timestamp> started_;
  };

  const Clock& clock_;
};

}  // namespace assay::cluster::testing
