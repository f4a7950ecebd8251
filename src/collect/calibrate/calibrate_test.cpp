// SPDX-License-Identifier: Apache-2.0
#include "calibrate/disk.h"
#include "calibrate/kernels.h"
#include "calibrate/memory.h"
#include "calibrate/network.h"
#include "calibrate/slices.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include <assay/base/files.h>
#include <assay/collect/calibrate.h>
#include <gtest/gtest.h>

namespace assay::collect {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = [] {
    std::string name = (fs::temp_directory_path() / "assay-devices-XXXXXX").native();
    return fs::path(::mkdtemp(name.data()));
  }();
  Folder() = default;
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }
};

TEST(Slices, the_best_is_what_nobody_disturbed_and_the_spread_is_between_thirds) {
  const Measured found = best({90, 100, 10, 5, 99, 20, 30, 98, 40});
  EXPECT_DOUBLE_EQ(found.value, 100);
  EXPECT_DOUBLE_EQ(found.spread, 0.02);
  EXPECT_DOUBLE_EQ(typical({1, 9, 2, 9, 3}).value, 3);
  EXPECT_DOUBLE_EQ(best({}).value, 0);
}

TEST(Slices, threads_add_up_and_the_worst_spread_counts) {
  const Measured sum = sum_of({{100, 100, 100}, {50, 40, 50}}, best);
  EXPECT_DOUBLE_EQ(sum.value, 150);
  EXPECT_DOUBLE_EQ(sum.spread, 0.2);
}

TEST(Slices, measure_the_work_that_was_done) {
  int calls = 0;
  const Work work = [&] {
    ++calls;
    return 0.0;
  };
  const auto rates = slice_rates(work, {.seconds = 0.02, .slice = 0.001});
  EXPECT_GT(calls, static_cast<int>(rates.size()));
  EXPECT_EQ(best(rates).value, 0);
  const auto each = slice_rates_on({0}, [] { return Work([] { return 1.0; }); },
                                   {.seconds = 0.01, .slice = 0.001});
  ASSERT_EQ(each.size(), 1U);
  EXPECT_GT(best(each.front()).value, 1000);
}

TEST(Kernels, compute_what_they_say) {
  // Every sum nears 1, wherever it began.
  EXPECT_NEAR(fma_float32(100'000) / (fma_float32_operations() / 2), 1, 0.01);
  EXPECT_NEAR(fma_float64(100'000) / (fma_float64_operations() / 2), 1, 0.01);
  EXPECT_EQ(dot_int8(5), 5 * dot_int8(1));
  EXPECT_NE(dot_int8(1), 0);
}

TEST(Memory, has_a_bandwidth_and_a_latency_of_this_world) {
  const auto figures = measure_memory({0}, 8'000'000, {.seconds = 0.02});
  EXPECT_GT(figures.bandwidth_one_core.value, 1e7);
  EXPECT_LT(figures.bandwidth_one_core.value, 1e13);
  EXPECT_GT(figures.latency.value, 1e-10);
  EXPECT_LT(figures.latency.value, 1e-4);
  EXPECT_FALSE(figures.contended);  // there is nobody else
}

TEST(Disk, leaves_nothing_behind) {
  const Folder folder;
  const auto figures = measure_disk(folder.path, 8U << 20U, 1);
  ASSERT_TRUE(figures) << figures.error().message;
  EXPECT_GT(figures->read.value, 0);
  EXPECT_GT(figures->write.value, 0);
  EXPECT_TRUE(fs::is_empty(folder.path));
  EXPECT_FALSE(measure_disk(folder.path / "nowhere", 8U << 20U, 1));
}

TEST(Network, to_itself_is_measured_and_nobody_is_told) {
  const auto speed = measure_network("", 0.1);
  ASSERT_TRUE(speed) << speed.error().message;
  EXPECT_GT(speed->value, 1e6);
  EXPECT_FALSE(measure_network("nowhere", 0.1));
  EXPECT_FALSE(measure_network("127.0.0.1:1", 0.1));
}

Calibration example() {
  Calibration calibration;
  calibration.device = {"pole-7", "u-1", "Computer",          "Raspberry Pi 4",
                        4,        4e9,   {{"bandwidth", 4e9}}};
  calibration.measured = from_unix_ns(1'700'000'000'123'000'000);
  calibration.spread = {{"bandwidth", 0.012}};
  calibration.missing = {{"gpu", "no GPU found"}};
  return calibration;
}

TEST(CalibrationFile, is_read_back_as_it_was) {
  const Folder folder;
  const auto file = store_calibration(folder.path / "devices", example());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->filename(), "pole-7.json");
  const auto all = load_calibrations(folder.path / "devices");
  ASSERT_EQ(all.size(), 1U);
  ASSERT_TRUE(all.front()) << all.front().error().message;
  EXPECT_EQ(calibration_document(*all.front()), calibration_document(example()));
}

TEST(CalibrationFile, of_a_board_whose_model_is_no_text_is_text) {
  const Folder folder;
  Calibration found = example();
  found.device.model = "board \xFF";
  const auto file = store_calibration(folder.path, found);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(load_calibration(*file)->device.model, "board \xEF\xBF\xBD");
}

TEST(CalibrationFile, of_hostile_contents_is_an_error_that_names_it) {
  const Folder folder;
  const fs::path file = folder.path / "x.json";
  for (const char* text : {"", "[]", "{}", R"({"schema": 2, "device": {"name": "x"}})",
                           R"({"schema": 1, "device": {}})", R"({"schema": "1", "device": 4})"}) {
    ASSERT_TRUE(write_file(file, text));
    const auto found = load_calibration(file);
    ASSERT_FALSE(found) << text;
    EXPECT_NE(found.error().message.find(file.native()), std::string::npos) << text;
  }
  ASSERT_TRUE(write_file(
      file, R"({"schema": 1, "device": {"name": "x"}, "spread": {"a": "b"}, "missing": [1]})"));
  EXPECT_TRUE(load_calibration(file));
}

TEST(CalibrationFile, names_never_lead_elsewhere) {
  for (const char* name : {"", ".", "../x", "a/b", ".hidden", "a b", "a\nb"})
    EXPECT_FALSE(calibration_file("/devices", name)) << name;
  EXPECT_EQ(calibration_file("/devices", "pole-7.a").value(), "/devices/pole-7.a.json");
}

}  // namespace
}  // namespace assay::collect
