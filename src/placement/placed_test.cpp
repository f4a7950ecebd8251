// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <nlohmann/json.hpp>

#include <assay/base/files.h>
#include <assay/placement/placed.h>
#include <assay/zoo/zoo.h>
#include <gtest/gtest.h>

namespace assay::placement {
namespace {

PlacedModel placed() {
  PlacedModel one;
  one.model = "small";
  one.candidate = {.node = {.name = "pi-1", .load = 0.5}, .engine = "opencv", .seconds = 0.010};
  one.candidate.low = 0.008;
  one.candidate.high = 0.013;
  one.device.name = "pi-1";
  one.worker = "assay-small-1";
  one.address = "http://127.0.0.1:1";
  one.deployed.times = {.engine = "opencv", .version = "4", .seconds = {0.011, 0.012, 0.013}};
  return one;
}

TEST(PlacedModel, is_told_beside_its_prediction) {
  const auto one = placed();
  EXPECT_EQ(placed_text(one),
            "small runs on pi-1 as assay-small-1, at http://127.0.0.1:1\n"
            "  measured 12 ms (median of 3), predicted 10 ms (8 ms to 13 ms): 1.20 times "
            "the prediction, inside the interval\n");
  const auto document = placed_document(one);
  EXPECT_EQ(document["measured_seconds"], 0.012);
  EXPECT_EQ(document["inside_interval"], true);
}

TEST(PlacedModel, outside_the_interval_and_of_another_engine_is_told) {
  auto one = placed();
  one.candidate.high = 0.0115;
  one.deployed.times.engine = "other";
  const std::string text = placed_text(one);
  EXPECT_NE(text.find("outside the interval"), std::string::npos) << text;
  EXPECT_NE(text.find("was for opencv, and the worker runs other"), std::string::npos) << text;
}

/// A host that remembers what it was to start, and starts nothing.
class Unwilling final : public WorkerHost {
 public:
  explicit Unwilling(WorkerPlan& asked) : asked_(asked) {}
  Result<void> start(const WorkerPlan& plan) override {
    asked_ = plan;
    return refused("no");
  }
  Result<bool> serves() override { return false; }
  Result<std::string> run(const std::string&, Milliseconds) override { return refused("no"); }
  std::string address() const override { return ""; }
  Result<void> end() override { return {}; }

 private:
  WorkerPlan& asked_;
};

TEST(Place, a_worker_has_the_threads_and_the_memory_that_it_was_told_with) {
  WorkerPlan asked;
  const FindHost host = [&](const std::string&,
                            const Wanted&) -> Result<std::unique_ptr<WorkerHost>> {
    return std::make_unique<Unwilling>(asked);
  };
  std::string folder = (std::filesystem::temp_directory_path() / "assay-place-XXXXXX").native();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  zoo::Recipe recipe;
  recipe.family = "squeezenet";
  recipe.width = 0.25;
  PlacingOrder order;
  order.name = "m";
  order.file = std::filesystem::path(folder) / "m.onnx";
  ASSERT_TRUE(zoo::make_model(recipe, order.file));
  order.candidate.node.name = "pi-1";
  order.candidate.memory_needed = 3e8;
  order.devices.resize(1);
  order.devices[0].name = "pi-1";
  order.devices[0].cores = 3.5;
  const DeployListener listener{.doing = [](const std::string&) {}, .wanted = [] { return true; }};
  EXPECT_EQ(place(order, host, listener).error().message, "no");
  EXPECT_EQ(asked.env["ASSAY_THREADS"], "4") << "nothing is told of threads: as many as cores";
  EXPECT_EQ(asked.memory_bytes, 3e8);
  order.candidate.threads = 1;
  EXPECT_FALSE(place(order, host, listener));
  EXPECT_EQ(asked.env["ASSAY_THREADS"], "1");
  std::filesystem::remove_all(folder);
}

TEST(DeviceOf, has_the_name_that_was_learned_and_the_nodes_identity) {
  std::vector<predict::Device> devices(1);
  devices[0].name = "pi-1";
  devices[0].uuid = "a";
  devices[0].model = "Board 4";
  devices[0].cores = 4;
  const auto like = device_of({.name = "pole-7", .uuid = "b", .model = "Board 4"}, devices);
  EXPECT_EQ(like.name, "pi-1");
  EXPECT_EQ(like.uuid, "b");
  EXPECT_EQ(like.cores, 4);
  EXPECT_EQ(device_of({.name = "pole-8", .model = "Board 9"}, devices).name, "pole-8");
}

TEST(Keep, writes_a_row_for_training) {
  std::string folder = (std::filesystem::temp_directory_path() / "assay-keep-XXXXXX").native();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const auto table = std::filesystem::path(folder) / "placed.csv";
  ASSERT_TRUE(keep(table, placed()));
  const std::string text = read_file(table).value();
  EXPECT_NE(text.find(",50.00,"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(",0.010000000\n")) << text;
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace assay::placement
