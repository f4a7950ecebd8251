// SPDX-License-Identifier: Apache-2.0
#include "render.h"

#include "testing/small_cluster.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using nlohmann::json;
using testing::SmallCluster;

std::string at(const kubeapi::Annotations& annotations, const std::string& key) {
  const auto found = annotations.find("ai.centaurus.io/" + key);
  return found == annotations.end() ? "-" : found->second;
}

TEST(Annotations, of_a_node_tell_its_gpus) {
  SmallCluster cluster;
  cluster.reading.gpus[0].pcie_generation = 1;
  cluster.reading.gpus[0].pcie_width = 16;
  cluster.reading.gpus[0].processes_known = true;
  cluster.reading.gpus[0].processes = {{18477, 11094.0 * 1024 * 1024}};
  cluster.round();
  auto& node = cluster.tracker.nodes().at("n1");
  node.gpus.at("1").pattern = Pattern{.use = analysis::UseClass::bursty,
                                      .period_seconds = 12.5,
                                      .confidence = 0.9,
                                      .hour = Ahead{50, 20, 80, 10, 90}};
  const auto all = annotations_of(node, {});
  EXPECT_EQ(
      at(all, "gpu-static"),
      R"({"count": "2", "model": "Tesla K80", "mem_size": "11GB", "pcie_gen_width": "1x16"})");
  EXPECT_EQ(
      at(all, "gpu-0"),
      R"({"mem_used": "3GB", "mem_free": "8GB", "process_cnt": 1, )"
      R"("pid-mem": [[18477, "11094MB"]], "max_mem_util": 25.0, "p95_mem_util": 25.0, "mean_mem_util": 25.0, )"
      R"("max_gpu_util": 60.0, "p95_gpu_util": 60.0, "mean_gpu_util": 60.0})");
  const auto second = json::parse(at(all, "gpu-1"));
  EXPECT_EQ(second["cyclic_pattern"], true);
  EXPECT_EQ(second["period"], 12.5);
  EXPECT_EQ(second["class"], "bursty");
  EXPECT_EQ(second["forecast"]["hour"]["high95"], 90);
  EXPECT_FALSE(second.contains("process_cnt")) << "nobody told";
  for (const auto& [key, value] : all) EXPECT_TRUE(json::accept(value)) << key << " " << value;
}

TEST(Annotations, of_a_node_tell_its_processor_and_the_days_of_its_gpus) {
  SmallCluster cluster;
  cluster.round();
  auto& node = cluster.tracker.nodes().at("n1");
  EXPECT_EQ(at(annotations_of(node, {}), "class"), "-") << "it was seen once";
  const auto before = figures_of(node);
  node.pattern = Pattern{.use = analysis::UseClass::steady, .hour = Ahead{4, 3, 5, 2, 6}};
  const auto told = figures_of(node);
  EXPECT_NE(told.facts, before.facts) << "another class is material";
  Published published;
  remember(published, told, {});
  node.pattern->hour->mean = 12;
  EXPECT_GE(change(published, figures_of(node)), 1) << "and another forecast";
  node.pattern->hour->mean = 4;
  node.gpus.at("0").pattern =
      Pattern{.days = {.period_seconds = 86400, .ahead = Ahead{40, 20, 60, 10, 90}}};
  const auto all = annotations_of(node, {});
  EXPECT_EQ(at(all, "class"), "\"steady\"");
  EXPECT_EQ(json::parse(at(all, "forecast"))["hour"]["mean"], 4);
  const auto gpu = json::parse(at(all, "gpu-0"));
  EXPECT_EQ(gpu["cyclic_pattern"], true);
  EXPECT_EQ(gpu["period"], 86400);
  EXPECT_EQ(gpu["forecast"]["day"]["high95"], 90);
}

TEST(Annotations, of_a_gpu_that_was_read_once_have_one_value) {
  SmallCluster cluster;
  cluster.reading.gpus[0].utilization = 37.4;
  cluster.reading.gpus[0].memory_used = 3.1e9;
  cluster.round();
  const auto gpu = json::parse(at(annotations_of(cluster.tracker.nodes().at("n1"), {}), "gpu-0"));
  for (const std::string of : {"gpu_util", "mem_util"}) {
    EXPECT_EQ(gpu["p95_" + of], gpu["mean_" + of]) << gpu;
    EXPECT_EQ(gpu["max_" + of], gpu["mean_" + of]) << gpu;
  }
}

TEST(Annotations, of_a_pod_have_the_old_keys) {
  SmallCluster cluster;
  cluster.round();
  cluster.reading.pods[{"lab", "train-1"}].cores = 0.5;
  cluster.round();
  const auto all = annotations_of(cluster.tracker.pods().at("pod-1"), {});
  EXPECT_EQ(at(all, "cpu_util"), "50.0");
  EXPECT_EQ(at(all, "max_cpu_util"), "200.0");
  EXPECT_EQ(at(all, "cpu_mem"), "953.67");
  EXPECT_EQ(at(all, "network"), "8.0");
  EXPECT_EQ(at(all, "disk_io"), "-") << "nobody measured it";
  EXPECT_EQ(at(all, "n1-gpu-1_util"), "80.0");
  EXPECT_EQ(at(all, "n1-gpu-1_mem_util"), "25.0");
  EXPECT_EQ(at(all, "max_n1-gpu-1_util"), "80.0");
  const auto usage = json::parse(at(all, "usage"));
  EXPECT_EQ(usage["cpu_util"]["max"], 200);
  EXPECT_EQ(usage["n1-gpu-1_util"]["mean"], 80);
  EXPECT_EQ(usage["n1-gpu-1_mem_util"]["p95"], 25);
  const auto elsewhere = annotations_of(cluster.tracker.pods().at("pod-1"), {.domain = "my.org"});
  EXPECT_TRUE(elsewhere.contains("my.org/cpu_util"));
}

TEST(Annotations, of_a_job_have_a_key_for_each_worker) {
  SmallCluster cluster;
  cluster.round();
  auto& job = cluster.tracker.jobs().at("job-1");
  job.findings.kind = "training";
  job.findings.finish = analysis::Outlook{1, 3600, 3000, 4000};
  const auto all = annotations_of(job, {});
  EXPECT_EQ(at(all, "train-1"),
            R"({"n1-gpu-1_util": 80.0, "n1-gpu-1_mem_mb": 2861.02, "cpu_util": 200.0, )"
            R"("cpu_mem_mb": 953.67, "network_mbps": 8.0})")
      << "nobody measured its disk";
  EXPECT_EQ(json::parse(at(all, "kind"))["kind"], "training");
  EXPECT_EQ(json::parse(at(all, "finish_in"))["seconds"], 3600);
  const auto usage = json::parse(at(all, "usage"));
  EXPECT_EQ(usage["gpus"]["max"], 2);
  EXPECT_EQ(usage["gpu_mem_util"]["max"], job.gpu_memory_share.max());
  EXPECT_GT(job.gpu_memory_share.max(), 0);
}

TEST(Annotations, never_grow_beyond_what_is_allowed) {
  JobState job;
  for (int i = 0; i < 5000; ++i) {
    auto& most = job.workers[fmt::format("a-very-long-name-of-a-worker-{}", i)];
    most.last = Timestamp(std::chrono::seconds(i));
  }
  const auto all = annotations_of(job, {.most_bytes = 20'000});
  size_t bytes = 0;
  for (const auto& [key, value] : all) bytes += key.size() + value.size();
  EXPECT_LT(bytes, 20'200u);
  EXPECT_GT(all.size(), 50u);
  EXPECT_NE(at(all, "a-very-long-name-of-a-worker-4999"), "-") << "the last ones stay";
  EXPECT_EQ(at(all, "workers_left_out"), std::to_string(5000 - (all.size() - 1)));
}

TEST(KeyPart, is_what_the_cluster_takes) {
  EXPECT_EQ(key_part("n1-gpu-0_util"), "n1-gpu-0_util");
  EXPECT_EQ(key_part("n1.local-gpu-0_util"), "n1.local-gpu-0_util");
  EXPECT_EQ(key_part("a b/c"), "a_b_c");
  const std::string name(100, 'x');
  const auto one = key_part(name + "-gpu-0_util"), two = key_part(name + "-gpu-1_util");
  EXPECT_EQ(one.size(), 63u);
  EXPECT_NE(one, two);
  EXPECT_TRUE(one.ends_with("gpu-0_util"));
  EXPECT_EQ(key_part("-_"), "x");
}

TEST(Change, is_material_when_somebody_would_want_to_know) {
  SmallCluster cluster;
  for (int i = 0; i < 20; ++i) cluster.round();
  auto& pod = cluster.tracker.pods().at("pod-0");
  EXPECT_GT(change(pod.published, figures_of(pod)), 1) << "never written";
  remember(pod.published, figures_of(pod), cluster.now);
  EXPECT_EQ(change(pod.published, figures_of(pod)), 0);
  cluster.reading.gpus[0].utilization = 61;
  cluster.reading.pods[{"lab", "train-0"}].cores = 1.05;
  cluster.round();
  EXPECT_LT(change(pod.published, figures_of(pod)), 1) << "a point more";
  cluster.reading.gpus[0].utilization = 97;
  cluster.round();
  EXPECT_GT(change(pod.published, figures_of(pod)), 1);
  cluster.reading.gpus[0].utilization = 60;
  remember(pod.published, figures_of(pod), cluster.now);
  pod.findings.kind = "training";
  EXPECT_GT(change(pod.published, figures_of(pod)), 1);
}

TEST(Change, counts_a_fall_as_much_as_the_rise) {
  const auto change_of = [](float was, float is) {
    const auto figures_at = [](float value) {
      return Figures{.numbers = {{.value = value, .tolerance = 0.05F, .share = 0.1F}}};
    };
    Published published;
    remember(published, figures_at(was), SmallCluster().now);
    return change(published, figures_at(is));
  };
  EXPECT_DOUBLE_EQ(change_of(1, 8), change_of(8, 1));
  EXPECT_GT(change_of(1, 8), change_of(1, 3));
  EXPECT_LT(change_of(8, 7.5F), 1);
  EXPECT_LT(change_of(0, 0.04F), 1);
}

TEST(Change, of_what_swings_all_the_time_is_none) {
  SmallCluster cluster;
  for (int i = 0; i < 40; ++i) {
    cluster.reading.gpus[0].utilization = i % 2 ? 90 : 20;
    cluster.round();
  }
  auto& pod = cluster.tracker.pods().at("pod-0");
  remember(pod.published, figures_of(pod), cluster.now);
  cluster.reading.gpus[0].utilization = 20;
  cluster.round();
  EXPECT_LE(change(pod.published, figures_of(pod)), 1);
}

}  // namespace
}  // namespace assay::cluster
