// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "state.h"
#include "testing/known_world.h"  // of predict
#include "uploads.h"

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include <assay/base/files.h>
#include <assay/predict/train.h>
#include <assay/zoo/zoo.h>
#include <gtest/gtest.h>

namespace assay::serve::testing {

/// A model file of two devices, a board and a server, learned once.
inline const std::string& learned() {
  static const std::string kText = [] {
    auto runs = predict::testing::known_runs(30);
    runs.devices[0].kind = "Computer";
    runs.devices[0].uuid = "u-board";
    runs.devices[0].model = "Board 4";
    runs.devices[1].uuid = "u-server";
    for (auto& run : runs.runs) run.threads = 2;
    auto training = predict::train(std::move(runs), {});
    EXPECT_TRUE(training) << training.error().message;
    return training ? training->file : "";
  }();
  return kText;
}

/// What the service's parts need, in a folder that goes with it.
class ServiceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "assay-serve-XXXXXX").native();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    settings_.model_file = folder_ / "placement.json";
    ASSERT_TRUE(write_file(settings_.model_file, learned()));
    settings_.interval = std::chrono::hours(1);
    settings_.largest_upload = 64U << 20U;
    uploads_ = std::make_unique<Uploads>(folder_ / "uploads", 1U << 30U);
    ASSERT_TRUE(uploads_->open());
  }
  void TearDown() override {
    state_.reset();
    std::filesystem::remove_all(folder_);
  }

  const State& state() {
    if (!state_)
      state_ = std::make_unique<State>(
          settings_, [this](const std::string& sentence) { told_ += sentence + "\n"; });
    return *state_;
  }
  /// The bytes of a small model.
  std::string model() const {
    zoo::Recipe recipe;
    recipe.family = "squeezenet";
    recipe.width = 0.25;
    recipe.resolution = 64;
    const auto made = zoo::make_model(recipe, folder_ / "made.onnx");
    EXPECT_TRUE(made) << made.error().message;
    return read_file(folder_ / "made.onnx").value_or("");
  }
  /// A body as the server has put it into a file.
  std::filesystem::path body_file(const std::string& bytes) const {
    EXPECT_TRUE(write_file(uploads_->folder() / "incoming/body-test", bytes));
    return uploads_->folder() / "incoming/body-test";
  }
  size_t kept() const {  // beside the folder of what is on its way, which is empty then
    const auto count = [](const std::filesystem::path& folder) {
      return std::distance(std::filesystem::directory_iterator(folder),
                           std::filesystem::directory_iterator());
    };
    return static_cast<size_t>(count(uploads_->folder()) - 1 +
                               count(uploads_->folder() / "incoming") - 1);
  }

  ServiceSettings settings_;
  std::filesystem::path folder_;
  std::unique_ptr<Uploads> uploads_;
  std::unique_ptr<State> state_;
  std::string told_;
};

}  // namespace assay::serve::testing
