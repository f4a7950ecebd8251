// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <assay/predict/device.h>
#include <gtest/gtest.h>

namespace assay::predict {
namespace {

TEST(Device, comes_back_as_it_was_written) {
  const Device device{"pi", "u-1", "Computer", "Raspberry Pi 4", 4, 4e9, {{"flops_float32", 2e10}}};
  const auto read = read_device(device_document(device), "devices.json");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(device_document(*read), device_document(device));
}

TEST(Device, with_a_gpu_comes_back_too_and_without_has_no_word_of_one) {
  Device device{"dgx", "u-1", "Computer", "DGX H200", 224, 2e12, {{"gpu_flops_float32", 6e13}}};
  EXPECT_FALSE(device_document(device).contains("gpus"));
  device.gpu_model = "NVIDIA H200";
  device.gpu_memory_bytes = 1.5e11;
  device.gpus = 8;
  const auto read = read_device(device_document(device), "devices.json");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->gpu_model, "NVIDIA H200");
  EXPECT_EQ(read->gpu_memory_bytes, 1.5e11);
  EXPECT_EQ(read->gpus, 8);
}

TEST(Device, wrong_values_are_named) {
  const auto message = [](const char* text) {
    return read_device(nlohmann::json::parse(text), "f").error().message;
  };
  EXPECT_EQ(message("[]"), "f: no device");
  EXPECT_EQ(message("{}"), "f: a device needs a 'name'");
  EXPECT_EQ(message(R"({"name": 1})"), "f: 'name' must be text");
  EXPECT_EQ(message(R"({"name": "a", "cores": -1})"), "f: 'cores' must be a number of at least 0");
  EXPECT_EQ(message(R"({"name": "a", "figures": {"x": 0}})"),
            "f: the figure 'x' must be a number above 0");
}

}  // namespace
}  // namespace assay::predict
