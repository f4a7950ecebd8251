// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <assay/cluster/trial_report.h>
#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using Json = nlohmann::json;

TrialReport example() {
  TrialReport report{.trial = "train",
                     .kind = "Job",
                     .api_version = "batch/v1",
                     .name_space = "lab",
                     .name = "train",
                     .resource = "nvidia.com/gpu",
                     .unit = "samples_per_second",
                     .begun = parse_utc("2026-01-01T00:00:00Z").value(),
                     .ended = parse_utc("2026-01-01T00:10:00Z").value(),
                     .question = {.prices = {{"T4", 0.35}, {"A100", 2.9}}},
                     .choices = {{"T4", 1}, {"T4", 2}, {"T4", 4}, {"A100", 1}, {"A100", 8}},
                     .ruled = {{4, "no node has so many nvidia.com/gpu"}}};
  TrialResult trial{.choice = {"A100", 1},
                    .object = "train-trial-1",
                    .session = "20260101-000000-7f3a",
                    .pods = {"p"},
                    .nodes = {"n"},
                    .begin = report.begun,
                    .end_time = report.ended,
                    .throughput = {1240, 0.01},
                    .source = "assay_app_samples_per_second",
                    .utilization = 0.9,
                    .watts = 250.0,
                    .unit_joules = 0.25};
  report.trials.push_back(trial);
  trial.choice = {"T4", 1};
  trial.throughput = {310, 0.01};
  trial.watts.reset();
  trial.unit_joules.reset();
  report.trials.push_back(trial);
  report.trials.push_back(
      {.choice = {"T4", 4}, .end = TrialEnd::failed, .reason = "it ended with 1 (Error)"});
  return report;
}

TEST(TrialReport, WithoutAMeasurementThereIsNoAnswer) {
  TrialReport report = example();
  report.ruled.clear();
  report.trials = {{.choice = {"T4", 1}, .end = TrialEnd::lost, .reason = "its node disappeared"}};
  EXPECT_FALSE(judge(report).plan.answer);
  EXPECT_TRUE(report_text(report).starts_with("Nothing was measured")) << report_text(report);
  EXPECT_TRUE(Json::parse(report_json(report))["answer"].is_null());
}

TEST(TrialReport, ToTryAllIsOfferedWhereThatTriesMore) {
  TrialReport report = example();
  report.choices = {{"", 1}, {"", 2}, {"", 4}};
  report.ruled.clear();
  report.trials = {{.choice = {"", 1}, .end = TrialEnd::lost}};
  const auto first_line = [&] {
    const std::string text = report_text(report);
    return text.substr(0, text.find('\n'));
  };
  const std::string unknown = "Nothing was measured, so that nothing is known";
  EXPECT_EQ(first_line(), unknown + "; --all tries each choice.");
  report.ruled = {{2, "no node has so many"}};
  EXPECT_EQ(first_line(), unknown + "; --all tries each that may work.");
  report.ruled = {{1, "no node has so many"}, {2, "no node has so many"}};
  EXPECT_EQ(first_line(), unknown + ".") << "it would try the same one";
  report.ruled.clear();
  report.limits.every = true;
  EXPECT_EQ(first_line(), unknown + ".") << "that was said";
}

TEST(TrialReport, TellsTheAnswerFirst) {
  const std::string text = report_text(example());
  EXPECT_TRUE(text.starts_with("A100 x 1: fastest, 1 240 samples_per_second ± 1 %")) << text;
  EXPECT_NE(text.find("T4 x 1 is cheapest per unit: "), std::string::npos) << text;
  EXPECT_NE(text.find("no room: no node has so many"), std::string::npos) << text;
  EXPECT_NE(text.find("it ended with 1 (Error)"), std::string::npos) << text;
  EXPECT_NE(text.find("J/unit"), std::string::npos) << text;
  EXPECT_NE(text.find(" 0.25 "), std::string::npos) << "energy of a unit\n" << text;
  EXPECT_NE(text.find("not tried"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  ±: of what was tried once, the noise within that trial; "),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("How they scale"), std::string::npos) << "one number tells no law\n" << text;
  TrialReport more = example();
  more.trials.push_back(more.trials[1]);
  more.trials.back().choice = {"T4", 2};
  more.trials.back().throughput.value = 600;
  EXPECT_NE(report_text(more).find("How they scale\n  T4: 31"), std::string::npos)
      << report_text(more);
}

TEST(TrialReport, SaysThatMoreWereNoFasterThanTheAnswer) {
  TrialReport report = example();
  report.ruled.clear();
  report.question = {};
  report.choices = {{"", 1}, {"", 2}};
  TrialResult trial = report.trials[0];
  report.trials.clear();
  for (const double count : {1.0, 2.0}) {
    trial.choice = {"", count};
    trial.throughput = {812.4, 0.01};
    report.trials.push_back(trial);
  }
  const std::string text = report_text(report);
  EXPECT_TRUE(text.starts_with("1 GPU: fastest")) << text;
  EXPECT_NE(text.find("Most jobs would be faster with 2 GPUs; this one was not.\n"),
            std::string::npos)
      << text;
  report.question = {.want = Question::Want::cheapest, .prices = {{"", 1}}};
  EXPECT_EQ(report_text(report).find("Most jobs would be"), std::string::npos);
}

TEST(TrialReport, ShowsWhatWasMeasuredAndWhereNoLawExplainsIt) {
  TrialReport report = example();
  report.ruled.clear();
  report.trials.resize(1);
  report.choices = {{"", 1}, {"", 2}, {"", 4}};
  report.question = {};
  TrialResult trial = report.trials[0];
  report.trials.clear();
  for (const auto& [count, speed] : {std::pair(1, 100.0), {2, 30.0}, {4, 300.0}}) {
    trial.choice = {"", static_cast<double>(count)};
    trial.throughput.value = speed;
    report.trials.push_back(trial);
  }
  const std::string text = report_text(report);
  EXPECT_TRUE(text.starts_with("4 GPUs: fastest, 300 samples_per_second ± 1 %")) << text;
  EXPECT_NE(text.find("That is not clear: no law explains what was measured"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("How they scale"), std::string::npos) << text;
  EXPECT_NE(text.find("2 GPUs: 30 was measured, "), std::string::npos) << text;
  EXPECT_NE(text.find("No law explains these trials well"), std::string::npos) << text;
  const Json document = Json::parse(report_json(report));
  EXPECT_EQ(document["choices"][1]["throughput"], 30);
  EXPECT_NE(document["choices"][1]["expected"]["value"], 30);
  EXPECT_EQ(report_text(example()).find("No law explains"), std::string::npos);
}

TEST(TrialReport, WhatKeepsTheAnswerFromBeingClearIsNamed) {
  TrialReport report = example();
  report.ruled.clear();
  report.question = {};
  report.choices = {{"", 1}, {"", 2}, {"", 4}};
  report.trials.resize(2);
  report.trials[0].choice = {"", 4};
  report.trials[1].choice = {"", 2};
  report.trials[0].throughput.value = 85;
  report.trials[1].throughput.value = 45;
  const std::string text = report_text(report);
  EXPECT_NE(text.find("That is not clear: with "), std::string::npos) << text;
  EXPECT_NE(
      text.find(", if it scales as most jobs do.\n1 GPU may be better; it was not measured, and "
                "fewer can be faster than more.\n"),
      std::string::npos)
      << text;
  const Json document = Json::parse(report_json(report));
  EXPECT_EQ(document["choices"][0]["doubt"], "fewest");
  EXPECT_FALSE(document["choices"][1].contains("doubt"));
  report.resource = "cpu";
  report.choices = {{"", .25}, {"", .5}, {"", 1}};
  report.trials[0].choice = {"", 1};
  report.trials[1].choice = {"", .5};
  report.trials[1].throughput.value = 85;
  EXPECT_NE(report_text(report).find("fewer can be as fast as more.\n"), std::string::npos)
      << report_text(report);
}

TEST(TrialReport, RoomThatOthersHadIsToldSo) {
  TrialReport report = example();
  report.trials.push_back({.choice = {"T4", 2}, .end = TrialEnd::busy, .reason = "Insufficient"});
  EXPECT_NE(report_text(report).find("no room just then: Insufficient"), std::string::npos);
  EXPECT_EQ(report_json(read_report(report_json(report)).value()), report_json(report));
  TrialReport few = report;
  few.ruled.clear();
  few.choices = {{"T4", 1}, {"T4", 2}};
  few.trials = {report.trials[1], report.trials.back()};
  EXPECT_TRUE(report_text(few).starts_with("T4 x 1: fastest of what had room, 310"))
      << report_text(few);
  EXPECT_NE(report_text(few).find("T4 x 2 may be better; there was no room for it."),
            std::string::npos)
      << report_text(few);
  EXPECT_FALSE(nothing_is_known(report));
  report.trials = {report.trials.back()};
  EXPECT_TRUE(report_text(report).starts_with("Nothing was measured")) << report_text(report);
  EXPECT_TRUE(nothing_is_known(report));
  report.trials.clear();
  for (const auto& choice : report.choices)
    report.trials.push_back({.choice = choice, .end = TrialEnd::failed, .reason = "it ended"});
  EXPECT_FALSE(nothing_is_known(report)) << "all are known not to work";
  report.trials.pop_back();
  report.ruled.clear();
  EXPECT_TRUE(nothing_is_known(report)) << "one was not tried";
  EXPECT_NE(report_text(report).find("known; --all tries each that may work.\n"), std::string::npos)
      << "the others are known to fail\n"
      << report_text(report);
  report.trials.push_back({.choice = report.choices.back(), .end = TrialEnd::lost});
  EXPECT_TRUE(report_text(report).starts_with("Nothing was measured, so that nothing is known.\n"))
      << report_text(report);
}

TEST(TrialReport, AFailureAfterASuccessIsTold) {
  TrialReport report = example();
  report.trials.push_back(
      {.choice = {"T4", 1}, .end = TrialEnd::failed, .reason = "it ended with 1"});
  EXPECT_NE(report_text(report).find("measured, then it ended with 1"), std::string::npos)
      << report_text(report);
}

TEST(TrialReport, SaysThatNothingWillDo) {
  TrialReport report = example();
  report.question.work = 1e9;
  report.question.deadline = 1;
  EXPECT_TRUE(report_text(report).starts_with("None of these choices does it within 1 s.\n"))
      << report_text(report);
}

TEST(TrialReport, IsReadBackAsItWasWritten) {
  const TrialReport report = example();
  const std::string json = report_json(report);
  const auto read = read_report(json);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(report_json(*read), json);
  EXPECT_EQ(report_text(*read), report_text(report));
  EXPECT_EQ(read->trials[0].watts, 250.0);
  EXPECT_FALSE(read->trials[1].watts) << "what is missing stays missing";
}

TEST(TrialReport, PricesOfKindsThatAreNoChoiceAreNotReadBack) {
  TrialReport old = example();
  old.question.prices = {{"T4", 0.35}, {"A100", 2.9}, {"H100", 9}, {"", 1}};
  const auto read = read_report(report_json(old));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->question.prices, (Prices{{"T4", 0.35}, {"A100", 2.9}, {"", 1}}));
  EXPECT_TRUE(check_question(read->question, read->choices));
}

TEST(TrialReport, AnotherQuestionHasAnotherAnswer) {
  TrialReport report = example();
  report.question.want = Question::Want::cheapest;
  const Json document = Json::parse(report_json(report));
  EXPECT_EQ(document["answer"]["kind"], "T4");
  EXPECT_EQ(document["fastest"]["kind"], "A100");
  EXPECT_EQ(Json::parse(report_annotation(report))["answer"]["kind"], "T4");
}

TEST(TrialReport, ForeignDocumentsAreTold) {
  for (const char* text : {"", "{}", "[]", R"({"trial": 5})", "nonsense"})
    EXPECT_FALSE(read_report(text)) << text;
  Json document = Json::parse(report_json(example()));
  document["trials"][0]["throughput"] = -1;
  EXPECT_FALSE(read_report(document.dump()));
  document = Json::parse(report_json(example()));
  document["choices"][0]["count"] = 0;
  EXPECT_FALSE(read_report(document.dump()));
  document["choices"] = Json::array();
  EXPECT_FALSE(read_report(document.dump()));
}

}  // namespace
}  // namespace assay::cluster
