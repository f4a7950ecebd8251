// SPDX-License-Identifier: Apache-2.0
#include "testing/prometheus_stand_in.h"

#include <cmath>

#include <assay/cluster/reading.h>
#include <gtest/gtest.h>

namespace assay::cluster {
namespace {

using testing::Prometheus;
using testing::vector_of;

constexpr const char* kGpu =
    R"({"gpu": "0", "UUID": "GPU-1", "modelName": "NVIDIA H200", "Hostname": "n1",
        "exported_pod": "train-0", "exported_namespace": "lab", "pod": "dcgm-exporter-x"})";

std::string names(const std::vector<std::string>& all) {
  testing::Series series;
  for (const auto& name : all) series.emplace_back(fmt::format(R"({{"__name__": "{}"}})", name), 1);
  return vector_of(series);
}

TEST(Sources, are_found_with_both_kinds_of_labels) {
  Prometheus server({{"count by (__name__)",
                      names({"container_cpu_usage_seconds_total", "DCGM_FI_DEV_GPU_UTIL"})},
                     {"container_label_io_kubernetes_pod_name!", vector_of({{"{}", 3}})},
                     {"{pod!", vector_of({{"{}", 5}})},
                     {"UTIL[1m]", vector_of({{"{}", 2}})},
                     {"count_over_time", vector_of({{"{}", 10}})}});
  promapi::Queries queries(server.access());
  const auto sources = find_sources(queries, nullptr);
  ASSERT_TRUE(sources) << sources.error().message;
  ASSERT_EQ(sources->pod_labels.size(), 2u);
  EXPECT_EQ(sources->pod_labels[1].pod, "container_label_io_kubernetes_pod_name");
  EXPECT_EQ(sources->gpu_step_seconds, 30);
  const auto missing = missing_sources(*sources);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_TRUE(missing[0].starts_with("nothing of nodes"));
}

TEST(Sources, know_how_often_gpus_are_told_of_also_without_their_utilization) {
  Prometheus server({{"count by (__name__)", names({kGpuEngine})},
                     {"ENGINE_ACTIVE[1m]", vector_of({{"{}", 6}})}});
  promapi::Queries queries(server.access());
  const auto sources = find_sources(queries, nullptr);
  ASSERT_TRUE(sources) << sources.error().message;
  EXPECT_TRUE(sources->has_gpus());
  EXPECT_EQ(sources->gpu_step_seconds, 10);
}

TEST(Sources, of_an_empty_prometheus_are_said_to_be_missing) {
  Prometheus server({});
  promapi::Queries queries(server.access());
  const auto sources = find_sources(queries, nullptr);
  ASSERT_TRUE(sources);
  EXPECT_EQ(missing_sources(*sources).size(), 3u);
}

TEST(Reading, has_pods_nodes_and_gpus_by_their_names) {
  Prometheus server(
      {{"container_cpu_usage_seconds_total{pod",
        vector_of({{R"({"namespace": "lab", "pod": "train-0"})", 2.5}})},
       {"container_cpu_usage_seconds_total{container_label",
        vector_of({{R"({"container_label_io_kubernetes_pod_namespace": "lab",
                        "container_label_io_kubernetes_pod_name": "old"})",
                    1.5},
                   {R"({"container_label_io_kubernetes_pod_namespace": "lab",
                        "container_label_io_kubernetes_pod_name": "train-0"})",
                    2.4}})},
       {"node_uname_info", vector_of({{R"({"instance": "10.0.0.1:9100", "nodename": "n1"})", 1}})},
       {"node_cpu_seconds_total", vector_of({{R"({"instance": "10.0.0.1:9100"})", 7},
                                             {R"({"instance": "n2:9100"})", 3},
                                             {R"({"instance": "elsewhere:9100"})", 9}})},
       {"(DCGM_FI_DEV_GPU_UTIL)", vector_of({{kGpu, 87},
                                             {R"({"gpu": "1", "UUID": "GPU-2",
           "Hostname": "n1", "pod": "dcgm-exporter-x", "container": "dcgm-exporter"})",
                                              0}})},
       {"DCGM_FI_DEV_FB_USED", vector_of({{R"({"UUID": "GPU-1"})", 1024},
                                          {R"({"UUID": "GPU-2"})", 9223372036854775794.0}})},
       {"DCGM_FI_DEV_FB_FREE",
        vector_of({{R"({"UUID": "GPU-1"})", 140737488355328.0}, {R"({"UUID": "GPU-2"})", 2}})},
       {"assay_app_steps", vector_of({{R"({"namespace": "lab", "pod": "train-0"})", 100}})},
       {"assay_app_step", vector_of({{R"({"namespace": "lab", "pod": "train-0"})", 40}})}});
  promapi::Queries queries(server.access());
  Sources sources;
  sources.names = {"container_cpu_usage_seconds_total",
                   "node_uname_info",
                   "node_cpu_seconds_total",
                   "DCGM_FI_DEV_GPU_UTIL",
                   "DCGM_FI_DEV_FB_USED",
                   "DCGM_FI_DEV_FB_FREE",
                   "assay_app_step",
                   "assay_app_steps"};
  sources.pod_labels = {PodLabels{}, PodLabels{"container_label_io_kubernetes_pod_name",
                                               "container_label_io_kubernetes_pod_namespace",
                                               "container_label_io_kubernetes_container_name"}};
  const auto reading = read_cluster(queries, sources, {"n1", "n2"}, nullptr);
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->window, std::chrono::seconds(120));
  EXPECT_NE(server.asked().at(0).find("[120s]"), std::string::npos) << server.asked().at(0);
  // Two exporters tell of the same pod: it is not twice as busy.
  EXPECT_EQ(reading->pods.at({"lab", "train-0"}).cores, 2.5);
  EXPECT_EQ(reading->pods.at({"lab", "old"}).cores, 1.5);
  EXPECT_EQ(reading->nodes.at("n1").cores, 7);
  EXPECT_EQ(reading->nodes.at("n2").cores, 3);
  EXPECT_EQ(reading->nodes.size(), 2u);
  ASSERT_EQ(reading->gpus.size(), 2u);
  EXPECT_EQ(reading->gpus[0].pod, (PodKey{"lab", "train-0"}));
  EXPECT_EQ(reading->gpus[0].model, "NVIDIA H200");
  EXPECT_EQ(reading->gpus[0].memory_used, 1024.0 * 1024 * 1024);
  EXPECT_FALSE(reading->gpus[1].pod) << "the exporter itself uses no GPU";
  EXPECT_FALSE(reading->gpus[1].memory_used) << "DCGM's word for no value";
  EXPECT_FALSE(reading->gpus[0].memory_free) << "another one of its words";
  EXPECT_EQ(reading->gpus[1].memory_free, 2.0 * 1024 * 1024);
  EXPECT_EQ(reading->progress.at({"lab", "train-0"}).step, 40);
  EXPECT_EQ(reading->progress.at({"lab", "train-0"}).steps, 100);
}

TEST(Reading, parts_of_gpus_stand_beside_whole_ones) {
  const auto part = [](const char* id, const char* pod) {
    return fmt::format(R"({{"gpu": "1", "UUID": "GPU-2", "GPU_I_ID": "{}", "Hostname": "n1",
        "GPU_I_PROFILE": "1g.18gb", "exported_pod": "{}", "exported_namespace": "lab"}})",
                       id, pod);
  };
  Prometheus server(
      {{"max by (gpu", vector_of({{kGpu, 87}, {part("7", "a"), 40}, {part("8", "b"), 60}})},
       {"DCGM_FI_DEV_FB_USED", vector_of({{R"({"UUID": "GPU-1"})", 8},
                                          {R"({"UUID": "GPU-2", "GPU_I_ID": "7"})", 1},
                                          {R"({"UUID": "GPU-2", "GPU_I_ID": "8"})", 2}})}});
  promapi::Queries queries(server.access());
  Sources sources;
  sources.names = {kGpuUtilization, kGpuEngine, "DCGM_FI_DEV_FB_USED"};
  const auto reading = read_cluster(queries, sources, {"n1"}, nullptr);
  ASSERT_TRUE(reading) << reading.error().message;
  ASSERT_EQ(reading->gpus.size(), 3u);
  EXPECT_EQ(reading->gpus[1].index, "1.7");
  EXPECT_EQ(reading->gpus[1].part, "7");
  EXPECT_EQ(reading->gpus[1].profile, "1g.18gb");
  EXPECT_EQ(reading->gpus[1].utilization, 40);
  EXPECT_EQ(reading->gpus[2].pod, (PodKey{"lab", "b"}));
  EXPECT_EQ(reading->gpus[2].memory_used, 2.0 * 1024 * 1024);
}

TEST(Reading, asks_for_what_a_cluster_has_of_gpus) {
  const auto question = [](const std::set<std::string>& names) {
    Prometheus server({});
    promapi::Queries queries(server.access());
    Sources sources;
    sources.names = names;
    EXPECT_TRUE(read_cluster(queries, sources, {}, nullptr));
    const auto asked = server.asked();
    if (asked.empty()) return std::string();
    return asked[0].substr(asked[0].find("instance, pod"));
  };
  EXPECT_EQ(question({}), "");
  EXPECT_NE(question({kGpuUtilization}).find(") (DCGM_FI_DEV_GPU_UTIL)"), std::string::npos);
  EXPECT_NE(question({kGpuEngine}).find(") (100 * DCGM_FI_PROF_GR_ENGINE_ACTIVE)"),
            std::string::npos);
  const auto both = question({kGpuUtilization, kGpuEngine});
  EXPECT_NE(both.find("<= 100 or on (UUID, GPU_I_ID) 100 * DCGM_FI_PROF"), std::string::npos)
      << both;
}

TEST(Reading, limits_come_from_whoever_has_them) {
  const auto limit = vector_of({{R"({"namespace": "lab", "pod": "a"})", 4e9},
                                {R"({"namespace": "lab", "pod": "unseen"})", 4e9}});
  Prometheus server({{"container_cpu_usage_seconds_total{pod",
                      vector_of({{R"({"namespace": "lab", "pod": "a"})", 1}})},
                     {"kube_pod_container_resource_limits", limit},
                     {"container_spec_memory_limit_bytes",
                      vector_of({{R"({"namespace": "lab", "pod": "a"})", 2e9}})}});
  promapi::Queries queries(server.access());
  Sources sources;
  sources.pod_labels = {PodLabels{}};
  sources.names = {"container_cpu_usage_seconds_total", "kube_pod_container_info",
                   "kube_pod_container_resource_limits"};
  const auto by_state = read_cluster(queries, sources, {}, nullptr);
  ASSERT_TRUE(by_state) << by_state.error().message;
  EXPECT_EQ(by_state->pods.at({"lab", "a"}).memory_limit, 4e9);
  EXPECT_EQ(by_state->pods.size(), 1u);
  sources.names.insert("container_spec_memory_limit_bytes");
  const auto by_container = read_cluster(queries, sources, {}, nullptr);
  ASSERT_TRUE(by_container) << by_container.error().message;
  EXPECT_EQ(by_container->pods.at({"lab", "a"}).memory_limit, 2e9);
}

TEST(Reading, nonsense_is_an_error_that_names_prometheus) {
  const std::pair<std::string, std::string> nonsense("node_cpu", "<html>");
  Prometheus server({nonsense});
  promapi::Queries queries(server.access());
  Sources sources;
  sources.names = {"node_cpu_seconds_total"};
  const auto reading = read_cluster(queries, sources, {}, nullptr);
  ASSERT_FALSE(reading);
  EXPECT_NE(reading.error().message.find("Prometheus"), std::string::npos);
}

TEST(Reading, a_question_without_an_answer_leaves_the_others) {
  Prometheus server({{"container_memory", "<html>"},
                     {"container_cpu_usage_seconds_total{pod",
                      vector_of({{R"({"namespace": "lab", "pod": "a"})", 1}})}});
  promapi::Queries queries(server.access());
  Sources sources;
  sources.names = {"container_cpu_usage_seconds_total", "container_memory_working_set_bytes"};
  sources.pod_labels = {PodLabels{}};
  const auto reading = read_cluster(queries, sources, {}, nullptr);
  ASSERT_TRUE(reading) << reading.error().message;
  EXPECT_EQ(reading->pods.at({"lab", "a"}).cores, 1);
  EXPECT_FALSE(reading->pods.at({"lab", "a"}).memory_bytes);
  EXPECT_EQ(reading->warnings.size(), 1u);
}

TEST(GpuSeries, are_in_even_steps_and_begin_with_the_gpu) {
  const std::pair<std::string, std::string> matrix(
      "query_range", R"({"status": "success", "data": {"resultType": "matrix", "result": [
        {"metric": {"UUID": "GPU-1"}, "values": [[940, "10"], [970, "30"], [1000, "40"]]}]}})");
  Prometheus server({matrix});
  promapi::Queries queries(server.access());
  Sources sources;
  sources.names = {kGpuUtilization};
  sources.gpu_step_seconds = 15;
  const auto series = read_gpu_series(queries, sources,
                                      {.uuids = {"GPU-1"},
                                       .now = Timestamp(std::chrono::seconds(1000)),
                                       .look_back = std::chrono::seconds(120)},
                                      nullptr);
  ASSERT_TRUE(series) << series.error().message;
  const auto& values = series->at({"GPU-1", ""});
  ASSERT_EQ(values.size(), 5u);
  EXPECT_EQ(values[0], 10);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_EQ(values[2], 30);
  EXPECT_EQ(values[4], 40);
}

}  // namespace
}  // namespace assay::cluster
