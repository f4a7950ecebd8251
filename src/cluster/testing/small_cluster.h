// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracker.h"

namespace assay::cluster::testing {

/// One node with two GPUs and a job of two workers, each with one of them.
struct SmallCluster {
  SmallCluster() {
    seen.nodes = {{.object = {kubeapi::nodes(), "", "n1", "node-1"},
                   .gpu_labels = {{"nvidia.com/gpu.product", "Tesla-K80"}},
                   .gpu_count = 2}};
    for (int i = 0; i < 2; ++i) {
      const auto name = "train-" + std::to_string(i);
      seen.pods.push_back({.object = {kubeapi::pods(), "lab", name, "pod-" + std::to_string(i)},
                           .node = "n1",
                           .job = job});
      reading.pods[{"lab", name}] = {.cores = 1.0 + i, .memory_bytes = 1e9, .received = 1e6};
      reading.gpus.push_back({.node = "n1",
                              .index = std::to_string(i),
                              .uuid = "GPU-" + std::to_string(i),
                              .model = "Tesla K80",
                              .pod = PodKey{"lab", name},
                              .utilization = 60.0 + 20 * i,
                              .memory_used = 3e9,
                              .memory_free = 9e9});
    }
    reading.nodes["n1"] = {.cores = 4, .memory_bytes = 8e9};
  }

  void round() {
    now += std::chrono::seconds(30);
    tracker.update(seen, reading, now);
  }

  kubeapi::ObjectName job = {
      {.group = "kubeflow.org", .version = "v1", .plural = "mpijobs", .kind = "MPIJob"},
      "lab",
      "train",
      "job-1"};
  Seen seen;
  Reading reading;
  Timestamp now = Timestamp(std::chrono::seconds(1'700'000'000));
  Tracker tracker{std::chrono::seconds(30)};
};

}  // namespace assay::cluster::testing
