// SPDX-License-Identifier: Apache-2.0
#include "trial_options.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace assay::cli {
namespace {

TEST(TrialFolder, a_report_without_measurements_does_not_replace_one_with_some) {
  std::string name = (std::filesystem::temp_directory_path() / "assay-cli-XXXXXX").native();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const TrialFolder folder(name, "");
  cluster::TrialReport report{.trial = "law", .name_space = "lab", .choices = {{"T4", 1}}};
  const auto keep = [&](cluster::TrialEnd end, double throughput) {
    report.trials = {{.choice = {"T4", 1}, .end = end}};
    report.trials[0].throughput.value = throughput;
    const auto kept = folder.keep(report);
    EXPECT_TRUE(kept) << kept.error().message;
    return kept && *kept;
  };
  const auto end = [&] { return folder.read().value().at(0).trials.at(0).end; };
  using cluster::TrialEnd;
  EXPECT_TRUE(keep(TrialEnd::lost, 0)) << "there is nothing else";
  EXPECT_TRUE(keep(TrialEnd::measured, 300));
  EXPECT_FALSE(keep(TrialEnd::failed, 0));
  EXPECT_EQ(end(), TrialEnd::measured);
  EXPECT_TRUE(keep(TrialEnd::measured, 310));
  EXPECT_EQ(folder.read().value().at(0).trials.at(0).throughput.value, 310);
  std::filesystem::remove_all(name);
}

}  // namespace
}  // namespace assay::cli
