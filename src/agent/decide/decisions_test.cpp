// SPDX-License-Identifier: Apache-2.0
#include "decide/decisions.h"

#include "decide/words.h"
#include "families/families.h"
#include "testing/machine.h"

#include <nlohmann/json.hpp>

#include <assay/promapi/exposition.h>
#include <gtest/gtest.h>

namespace assay::agent {
namespace {

using hooks::ReportKind;
using std::chrono::seconds;

const std::string kPath = "/docker/" + std::string(64, 'a');

/// One app in a group of its own on a machine of two cores, told by hand what it does.
class DecisionsTest : public ::testing::Test {
 protected:
  DecisionsTest() {
    machine.make_group(kPath, 0, 50e6);
    machine.write("/proc/41/cgroup", "0::" + kPath + "\n");
    table.group_appeared(kPath);
    goals.label(kPath, parse_goals("fps >= 10").value());
    caller = reports.caller_connected({.pid = 41, .command = "detect"});
    fps = reports.declare(caller, {"fps", "per second", ReportKind::rate});
    decisions.on_change([this](const std::string&, const Decision& decision) {
      changes.emplace_back(to_string(decision.main.finding().verdict));
    });
  }
  /// Seconds in which the app makes so many frames with so many cores, and so much of the
  /// machine is idle.
  void pass(int length, double frames, double cores, double idle_cores) {
    for (int i = 0; i < length; ++i) {
      clock.advance(seconds(1));
      cpu += cores;
      idle += idle_cores;
      machine.use(kPath, cpu, memory);
      machine.write("/proc/stat",
                    fmt::format("cpu  1 2 3 {:.0f} 0 0\ncpu0 1 2\ncpu1 1 2\nintr 5\n", idle * 100));
      if (frames > 0) reports.value(caller, fps, clock.now(), frames);
      table.beat();
      decisions.beat(clock.now());
    }
  }
  const Decision& decision() { return *decisions.of(kPath); }
  std::string exposed() {
    promapi::Exposition out;
    out.start(promapi::TextFormat::classic);
    write_decisions(out, decisions, table, reports);
    return std::string(out.finish());
  }

  testing::Machine machine;
  ManualClock clock{from_unix_ns(1'700'000'000'000'000'000)};
  LiveTable table{machine.root(), clock, {}};
  Reports reports{clock, table, seconds(60)};
  GoalBook goals;
  Decisions decisions{machine.root(), table, reports, goals};
  hooks::CallerId caller{};
  hooks::ReportId fps{};
  double cpu = 0;
  double idle = 0;
  double memory = 50e6;
  std::vector<std::string> changes;
};

TEST_F(DecisionsTest, follow_an_app_through_good_and_bad_days) {
  pass(10, 12, 1, 1);
  EXPECT_EQ(decision().main.finding().verdict, Verdict::meets);
  pass(20, 6, 1, 0);
  EXPECT_EQ(decision().main.finding(), (Finding{Verdict::starved, Resource::cpu, false}));
  EXPECT_NEAR(decision().evidence.cores, 1, 0.01);
  EXPECT_NEAR(decision().evidence.node_idle_cores, 0, 0.01);
  pass(20, 30, 1, 1);
  EXPECT_EQ(decision().main.finding().verdict, Verdict::idle_rich);
  pass(40, 0, 1, 1);
  EXPECT_EQ(decision().main.finding().verdict, Verdict::stuck);
  EXPECT_EQ(changes, (std::vector<std::string>{"meets", "starved", "idle-rich", "stuck"}))
      << "each once: nothing flaps";
}

TEST_F(DecisionsTest, one_that_still_reports_something_is_not_stuck) {
  const auto other = reports.declare(caller, {"frames", "", ReportKind::counter});
  pass(5, 12, 1, 1);
  for (int i = 0; i < 60; ++i) {
    reports.value(caller, other, clock.now(), i);
    pass(1, 0, 1, 1);
  }
  EXPECT_NE(decision().main.finding().verdict, Verdict::stuck);
}

TEST_F(DecisionsTest, are_told_in_words) {
  pass(20, 6, 1, 0);
  EXPECT_EQ(sentence_of(decision()),
            "misses fps >= 10 (it is 6) for lack of CPU: it got 1.00 cores and the machine has no "
            "idle core; limit others, or move one");
  EXPECT_EQ(evidence_of(decision()).front(), "fps >= 10: it is 6");
}

TEST_F(DecisionsTest, are_told_as_json) {
  pass(20, 6, 1, 0);
  nlohmann::ordered_json json;
  add_decision(json, decision(), clock.now());
  EXPECT_EQ(json["goals"][0]["goal"], "fps >= 10");
  EXPECT_EQ(json["goals"][0]["value"], 6);
  EXPECT_EQ(json["goals"][0]["met"], false);
  EXPECT_EQ(json["verdict"], "starved");
  EXPECT_EQ(json["advice"][0]["resource"], "cpu");
}

TEST_F(DecisionsTest, are_told_as_metrics) {
  pass(20, 6, 1, 0);
  const std::string text = exposed();
  const auto has = [&](const std::string& name, const std::string& rest) {
    return text.find(name + "{app=\"aaaaaaaaaaaa\"") != std::string::npos &&
           text.find(rest) != std::string::npos;
  };
  EXPECT_TRUE(has("assay_app_goal_value", R"(goal="fps >= 10"} 6)")) << text;
  EXPECT_TRUE(has("assay_app_goal_bound", R"(goal="fps >= 10"} 10)")) << text;
  EXPECT_TRUE(has("assay_app_goal_met", R"(goal="fps >= 10"} 0)")) << text;
  EXPECT_TRUE(has("assay_app_verdict", R"(resource="cpu",verdict="starved"} 1)")) << text;
}

TEST_F(DecisionsTest, one_that_ends_is_forgotten) {
  pass(10, 12, 1, 1);
  table.group_gone(kPath);
  decisions.beat(clock.now());
  EXPECT_EQ(decisions.of(kPath), nullptr);
}

TEST_F(DecisionsTest, memory_that_only_grows_is_told_beside_the_goals) {
  for (int i = 0; i < 200; ++i) {
    memory += 1e6;
    pass(1, 12, 1, 1);
  }
  EXPECT_EQ(decision().main.finding().verdict, Verdict::meets);
  EXPECT_EQ(decision().leak.finding().verdict, Verdict::leaking);
  EXPECT_NE(leak_sentence(decision().evidence).find("its memory only grows"), std::string::npos);
}

}  // namespace
}  // namespace assay::agent
