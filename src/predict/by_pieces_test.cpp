// SPDX-License-Identifier: Apache-2.0
#include "by_pieces.h"

#include "testing/known_world.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <assay/predict/train.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

using namespace testing;

model::Piece conv(double channels, double positions, double times) {
  model::Piece piece{.kind = "conv", .times = times};
  piece.macs = channels * channels * 9 * positions;
  piece.bytes_read = 4 * channels * positions;
  piece.bytes_written = 4 * channels * positions;
  piece.channels_in = piece.channels_out = channels;
  piece.positions = positions;
  piece.window = 9;
  return piece;
}

/// Few channels make slow convolutions, which no number of the whole model tells.
double seconds_of(const model::Piece& piece, double speed) {
  if (piece.kind == "call") return 1e-4 / speed;
  return piece.macs / (speed * 1e10) * (1 + 32 / piece.channels_in);
}

/// Of twelve families, each with convolutions of other channels.
std::vector<model::Piece> drawn_pieces(size_t number) {
  Draw draw(number + 1);
  std::vector<model::Piece> pieces;
  for (int i = 0; i < 6; ++i) {
    const double channels = 8 * std::exp(draw.between(0, 3.4));
    const double positions = 50 * std::exp(draw.between(0, 3));
    const double times = std::floor(draw.between(1, 4));
    pieces.push_back(conv(channels, positions, times));
  }
  pieces.push_back({.kind = "call", .bytes_read = 1000, .merged = 12});
  return pieces;
}

model::Workload workload_of(const std::vector<model::Piece>& pieces) {
  model::Workload work;
  for (const auto& piece : pieces) {
    work.macs_conv3x3 += piece.times * piece.macs;
    work.bytes_conv += piece.times * (piece.bytes_read + piece.bytes_written);
    work.operators += piece.times;
  }
  return work;
}

Runs runs_with_pieces(size_t models) {
  Runs runs;
  for (const double speed : {1.0, 4.0}) {
    const std::string name = speed > 1 ? "fast" : "slow";
    runs.devices.push_back({name, "", "", "", 2});
    runs.tasks.push_back({name, "opencv", "float32"});
  }
  for (size_t number = 0; number < models; ++number) {
    RunModel model = known_model(number);
    model.name += "-" + std::to_string(number);
    model.family = "family" + std::to_string(number % 12);
    const auto pieces = drawn_pieces(number);
    model.workload = workload_of(pieces);
    runs.models.push_back(model);
    for (size_t task = 0; task < 2; ++task) {
      Profile profile{pieces, {}};
      double whole = 0;
      for (const auto& piece : pieces) {
        profile.seconds.push_back(piece.times * seconds_of(piece, task == 0 ? 1 : 4));
        whole += profile.seconds.back();
      }
      runs.runs.push_back({number, task, 0, 2, whole, false});
      for (double& seconds : profile.seconds) seconds *= 1.3;  // it was another moment
      runs.profiles.push_back({number, task, 2, profile});
    }
  }
  return runs;
}

/// Learned once for all tests.
const Training& trained() {
  static const auto kTraining = train(runs_with_pieces(24), {});
  EXPECT_TRUE(kTraining) << kTraining.error().message;
  return *kTraining;
}

TEST(ByPieces, tells_a_model_by_what_its_pieces_take) {
  const Trial& trial = trained().report.by_workload;
  EXPECT_EQ(trial.method, "pieces");
  EXPECT_LT(trial.accuracy.mean_relative_error, 0.05);
  for (const auto& [method, accuracy] : trial.tried) {
    if (method == "pieces") continue;
    EXPECT_GT(accuracy.mean_relative_error, trial.accuracy.mean_relative_error) << method;
  }
  const auto predictor = Predictor::parse("m.json", trained().file);
  ASSERT_TRUE(predictor) << predictor.error().message;
  model::Characteristics asked{
      known_model(99).counts, workload_of(drawn_pieces(99)), "float32", {}};
  asked.pieces = drawn_pieces(99);
  double whole = 0;
  for (const auto& piece : asked.pieces) whole += piece.times * seconds_of(piece, 1);
  const auto told = tell_all(*predictor, asked);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_NEAR(told[0].seconds / whole, 1, 0.1);
  EXPECT_NEAR(told[0].seconds / told[1].seconds, 4, 0.2);
  double shares = 0;
  for (const auto& [kind, share] : trained().report.model_importance) shares += share;
  EXPECT_NEAR(shares, 1, 1e-6);
}

TEST(ByPieces, whole_models_have_as_much_say_as_helps) {
  const auto shares_of = [](const Training& training) {
    const auto idle = nlohmann::json::parse(training.file)["assay"]["by_workload"]["idle"];
    return idle["whole_shares"].get<std::vector<double>>();
  };
  Runs runs = runs_with_pieces(24);
  for (auto& one : runs.profiles)  // as an engine tells it that takes some for others
    for (size_t i = 0; i < one.profile.seconds.size(); ++i)
      one.profile.seconds[i] *= (i + one.model) % 2 == 0 ? 1.4 : 0.7;
  const auto training = train(runs, {});
  ASSERT_TRUE(training) << training.error().message;
  ASSERT_EQ(training->report.by_workload.method, "pieces");
  const auto right = shares_of(trained());
  const auto wrong = shares_of(*training);
  ASSERT_EQ(right.size(), 2U);
  ASSERT_EQ(wrong.size(), 2U);
  EXPECT_LE(right[0], 0.2);
  EXPECT_GT(wrong[0], right[0]);
}

TEST(ByPieces, is_learned_again_from_the_file) {
  const Runs runs = runs_with_pieces(14);
  const auto training = train(runs, {});
  ASSERT_TRUE(training) << training.error().message;
  const auto older = read_older("m.json", training->file);
  ASSERT_TRUE(older) << older.error().message;
  ASSERT_EQ(older->runs.profiles.size(), runs.profiles.size());
  EXPECT_EQ(older->runs.profiles[3].profile.pieces, runs.profiles[3].profile.pieces);
  Runs both = older->runs;
  add_runs(both, older->runs);
  EXPECT_EQ(both.profiles.size(), runs.profiles.size());
}

TEST(ByPieces, needs_pieces_of_most_models) {
  Runs runs = runs_with_pieces(14);
  EXPECT_TRUE(has_pieces(runs));
  std::erase_if(runs.profiles, [](const ModelProfile& one) { return one.model == 3; });
  EXPECT_TRUE(has_pieces(runs));
  std::erase_if(runs.profiles, [](const ModelProfile& one) { return one.model > 4; });
  EXPECT_FALSE(has_pieces(runs));
  EXPECT_FALSE(has_pieces(known_runs(6)));
}

TEST(ByPieces, models_without_a_profile_are_no_harm) {
  Runs runs = runs_with_pieces(24);
  std::erase_if(runs.profiles, [](const ModelProfile& one) { return one.model % 6 == 0; });
  const auto training = train(runs, {});
  ASSERT_TRUE(training) << training.error().message;
  EXPECT_EQ(training->report.by_workload.method, "pieces");
  EXPECT_EQ(training->report.by_workload.accuracy.count, runs.runs.size());
}

TEST(ByPieces, a_task_that_only_few_families_tell_of_leaves_the_other_ways) {
  Runs runs = runs_with_pieces(60);
  std::erase_if(runs.profiles, [](const ModelProfile& one) {
    return one.task == 1 && one.model % 12 != 1;  // one family, which some fold leaves out
  });
  ASSERT_TRUE(has_pieces(runs));
  const auto training = train(runs, {});
  ASSERT_TRUE(training) << training.error().message;
  EXPECT_NE(training->report.by_workload.method, "pieces");
}

TEST(ByPieces, profiles_with_other_threads_or_other_pieces_are_left_out) {
  Runs runs = runs_with_pieces(24);
  for (size_t i = 0; i < 48; i += 2) {
    ModelProfile other = runs.profiles[i];
    std::reverse(other.profile.seconds.begin(), other.profile.seconds.end());
    other.threads = 1;
    runs.profiles.push_back(other);
    other.threads = 2;
    other.profile.pieces[0].channels_in = 1;
    runs.profiles.push_back(other);
    runs.profiles.push_back(other);
  }
  const auto training = train(runs, {});
  ASSERT_TRUE(training) << training.error().message;
  EXPECT_LT(training->report.by_workload.accuracy.mean_relative_error, 0.05);
}

TEST(ByPieces, a_file_that_was_tampered_with_is_refused) {
  const auto error_of = [&](const auto& change) {
    auto document = nlohmann::json::parse(trained().file);
    change(document["assay"]["by_workload"]["idle"]);
    const auto read = Predictor::parse("m.json", document.dump());
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(error_of([](auto&) {}), "");
  EXPECT_NE(error_of([](auto& idle) { idle["kinds"].back()["tasks"] = {0, 0}; }), "");
  EXPECT_NE(error_of([](auto& idle) { idle["kinds"].back()["tasks"] = {0, 7}; }), "");
  EXPECT_NE(error_of([](auto& idle) { idle["kinds"].back()["kind"] = "conv"; }), "");
  EXPECT_NE(error_of([](auto& idle) { idle["kinds"].front()["means"].push_back(1); }), "");
  EXPECT_NE(error_of([](auto& idle) { idle["kinds"].clear(); }), "");
  EXPECT_NE(error_of([](auto& idle) { idle["whole_shares"].push_back(1); }), "");
  EXPECT_NE(error_of([](auto& idle) { idle["whole_shares"] = {0, 1.5}; }), "");
  EXPECT_EQ(error_of([](auto& idle) { idle.erase("whole_shares"); }), "");
}

TEST(ByPieces, what_is_unlike_all_others_is_learned_though_it_was_little_work) {
  constexpr size_t kModels = 30;
  const model::Piece odd = conv(2000, 1, 1);
  Runs runs;
  runs.devices.push_back({"board", "", "", "", 2});
  runs.tasks.push_back({"board", "opencv", "float32"});
  Grid idle(1, kModels);
  std::vector<size_t> models;
  for (size_t number = 0; number < kModels; ++number) {
    RunModel model = known_model(number);
    Profile profile;
    double whole = 0;
    for (size_t i = 0; i < 20; ++i) {
      const bool is_odd = number == 7 && i == 3;
      profile.pieces.push_back(is_odd ? odd
                                      : conv(60 + static_cast<double>(i % 5),
                                             40'000 + 100 * static_cast<double>(number), 1));
      profile.seconds.push_back(is_odd ? 0.5 : seconds_of(profile.pieces.back(), 1));
      whole += profile.seconds.back();
    }
    model.workload = workload_of(profile.pieces);
    runs.models.push_back(model);
    runs.profiles.push_back({number, 0, 2, profile});
    idle.at(0, number) = std::log(whole);
    models.push_back(number);
  }
  const auto learned = learn_pieces(runs, {0}, models, idle);
  ASSERT_TRUE(learned) << learned.error().message;
  EXPECT_NEAR(tell_pieces(*learned, std::vector{odd}, std::vector{odd})[0], std::log(0.5), 0.5);
}

TEST(ByPieces, kinds_that_were_hardly_met_are_told_by_all_others) {
  const Runs runs = runs_with_pieces(14);
  Grid idle(2, 14);
  for (const auto& run : runs.runs) idle.at(run.task, run.model) = std::log(run.seconds);
  std::vector<size_t> models;
  for (size_t model = 0; model < 14; ++model) models.push_back(model);
  const auto learned = learn_pieces(runs, {0, 1}, models, idle);
  ASSERT_TRUE(learned) << learned.error().message;
  auto piece = conv(32, 400, 1);
  const double usual = tell_pieces(*learned, std::vector{piece}, std::vector{piece})[0];
  piece.kind = "transposed";
  EXPECT_NEAR(tell_pieces(*learned, std::vector{piece}, std::vector{piece})[0], usual, 0.5);
}

TEST(Profile, is_one_cell_of_a_table) {
  const Profile profile{drawn_pieces(1), {1, 2, 3, 4, 5, 6, 0.25}};
  const auto read = parse_profile(profile_text(profile));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, profile);
}

TEST(Profile, with_something_wrong_in_it_is_refused) {
  const auto error_of = [](const std::string& text) {
    const auto read = parse_profile(text);
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(error_of(""), "there are no pieces");
  EXPECT_EQ(error_of("knot 1"), "\"knot\" is no kind of piece");
  EXPECT_EQ(error_of("conv 1 2"), "\"\" is no number of at least 0");
  EXPECT_EQ(error_of("conv 1 -2 0 0 0 0 0 0 0 0 0 0 0 0 0.1"), "\"-2\" is no number of at least 0");
  EXPECT_EQ(error_of("conv 0 2 0 0 0 0 0 0 0 0 0 0 0 0 0.1"), "a piece never runs");
}

}  // namespace
}  // namespace assay::predict
