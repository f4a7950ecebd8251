// SPDX-License-Identifier: Apache-2.0
// Replaces this test binary's operator new by one that counts.
#include <cstdlib>
#include <new>
#include <unistd.h>
#include <vector>

#include <assay/probes/probe.h>
#include <gtest/gtest.h>

namespace {
thread_local size_t allocations = 0;

void* counted(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(size_t size) {
  return counted(size);
}
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void* operator new[](size_t size) {
  return counted(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}

namespace assay::probes {
namespace {

class CountingSink final : public SampleSink {
 public:
  SeriesId declare(const SeriesInfo&) override { return SeriesId(declared_++); }
  void sample(SeriesId, Timestamp, double) override { ++samples_; }
  void lost(const Loss&) override {}
  size_t samples() const { return samples_; }

 private:
  uint32_t declared_ = 0;
  size_t samples_ = 0;
};

/// Allocations in ten rounds after two that may still grow buffers.
size_t allocations_in_steady_state(Probes probes, CountingSink& sink) {
  const SystemClock clock;
  Probes open;
  for (auto& probe : probes) {
    if (probe->open(sink)) open.push_back(std::move(probe));
  }
  size_t before = 0;
  for (int round = 0; round < 12; ++round) {
    if (round == 2) before = allocations;
    for (auto& probe : open) EXPECT_TRUE(probe->sample(clock, sink)) << probe->name();
  }
  return allocations - before;
}

TEST(Allocations, the_count_works) {
  const size_t before = allocations;
  const std::vector<int> numbers(100);
  EXPECT_EQ(allocations, before + 1) << numbers.size();
}

TEST(Allocations, none_when_sampling_an_app) {
  AppTarget target;
  target.root = getpid();
  CountingSink sink;
  EXPECT_EQ(allocations_in_steady_state(app_probes(SysRoot(), target), sink), 0U);
  EXPECT_GT(sink.samples(), 100U);
}

TEST(Allocations, none_when_sampling_groups) {
  const SysRoot root(std::string(ASSAY_SOURCE_DIR) + "/tests/sysroots/container-cgroup-v2");
  AppTarget target;
  target.cgroup = cgroups_of(root, 700);
  target.root = 700;
  CountingSink sink;
  EXPECT_EQ(allocations_in_steady_state(app_probes(root, target), sink), 0U);
  EXPECT_GT(sink.samples(), 100U);
}

TEST(Allocations, none_when_sampling_the_node_and_its_power) {
  CountingSink sink;
  EXPECT_EQ(allocations_in_steady_state(node_probes(SysRoot()), sink), 0U);
  const SysRoot laptop(std::string(ASSAY_SOURCE_DIR) + "/tests/sysroots/x86-laptop");
  EXPECT_EQ(allocations_in_steady_state(power_probes(laptop), sink), 0U);
  EXPECT_GT(sink.samples(), 100U);
}

}  // namespace
}  // namespace assay::probes
