// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "history.h"
#include "testing/small_cluster.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>

#include <gtest/gtest.h>

namespace assay::cluster::testing {

class HistoryTest : public ::testing::Test {
 public:
  HistoryTest() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-cluster-XXXXXX").native();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
    shelf_ = std::move(*store::Shelf::open_sqlite(folder_ / "h.db"));
  }
  ~HistoryTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

 protected:
  std::filesystem::path folder_;
  std::unique_ptr<store::Shelf> shelf_;
};

inline constexpr Nanoseconds kYear = std::chrono::hours(24 * 365);

/// What a restart of the profiler leaves: the history, and the cluster as it was.
struct Restart {
  explicit Restart(store::Shelf& shelf, std::string in = "here") : history(shelf, kYear) {
    history.set_cluster(std::move(in));
  }

  Result<void> round() {
    cluster.round();
    return history.restore(cluster.tracker, [this] { return allowed-- > 0; });
  }
  Result<void> save(bool all = true) {
    return history.save(cluster.tracker, SystemClock().now(), all);
  }

  SmallCluster cluster;
  History history;
  int allowed = 1000;
};

}  // namespace assay::cluster::testing
