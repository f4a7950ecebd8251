// SPDX-License-Identifier: Apache-2.0
#include "decide/measurements.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include <assay/base/files.h>
#include <gtest/gtest.h>

namespace assay::agent {
namespace {
namespace fs = std::filesystem;

class MeasurementsTest : public ::testing::Test {
 protected:
  MeasurementsTest() {
    std::string name = (fs::temp_directory_path() / "assay-advice-XXXXXX").native();
    folder = ::mkdtemp(name.data());
  }
  ~MeasurementsTest() override { fs::remove_all(folder); }
  fs::path folder;
};

TEST_F(MeasurementsTest, have_the_form_of_what_plugins_publish) {
  AppIdentity app;
  app.pod = "camera-7";
  Decision decision;
  decision.name = "objcounter";
  decision.main.take({Verdict::stuck}, from_unix_ns(1));
  const auto line = nlohmann::json::parse(
      measurement_line(from_unix_ns(1'661'261'230'562'104'007), app, decision));
  EXPECT_EQ(line["name"], "assay.verdict");
  EXPECT_EQ(line["value"], "stuck");
  EXPECT_EQ(line["timestamp"], "2022-08-23T13:27:10.562104007");
  EXPECT_EQ(line["meta"]["app"], "objcounter");
  EXPECT_EQ(line["meta"]["pod"], "camera-7");
}

TEST_F(MeasurementsTest, keep_their_file_small) {
  Measurements measurements(folder / "data.ndjson");
  const std::string line(1U << 18U, 'x');
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(measurements.write(line));
  EXPECT_EQ(fs::file_size(folder / "data.ndjson"), line.size());
  EXPECT_EQ(fs::file_size(folder / "data.ndjson.1"), 4 * line.size());
}

TEST_F(MeasurementsTest, say_why_they_cannot_be_written) {
  Measurements measurements(folder / "nosuch/data.ndjson");
  const auto written = measurements.write("x");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("nosuch"), std::string::npos);
}

}  // namespace
}  // namespace assay::agent
