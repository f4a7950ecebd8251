// SPDX-License-Identifier: Apache-2.0
#include "need_probe.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace assay::session {
namespace {

/// A child that waits to be killed.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ == 0) {
      ::pause();
      ::_exit(0);
    }
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { end(); }
  pid_t pid() const { return pid_; }
  void end() {
    if (ended_) return;
    ended_ = true;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_;
  bool ended_ = false;
};

probes::Probes opened(const Child& child, SampleSink& sink) {
  probes::AppTarget target;
  target.root = child.pid();
  auto all = need_probes(SysRoot(), "broker", target);
  std::erase_if(all, [&](const auto& probe) { return !probe->open(sink); });
  return all;
}

TEST(NeedProbes, give_the_series_of_an_app_the_name_of_the_need) {
  const Child child;
  MemorySeries series;
  SystemClock clock;
  for (const auto& probe : opened(child, series)) (void)!probe->sample(clock, series);
  ASSERT_NE(series.find("memory_bytes", Scope::need), nullptr);
  EXPECT_EQ(series.find("memory_bytes", Scope::need)->values.size(), 1U);
  for (const auto& info : series.list()) {
    EXPECT_EQ(info.scope, Scope::need) << info.name;
    const Labels::value_type name = {"need", "broker"};
    EXPECT_NE(std::find(info.labels.begin(), info.labels.end(), name), info.labels.end());
  }
}

TEST(NeedProbes, have_no_complaint_when_it_ends) {
  Child child;
  MemorySeries series;
  SystemClock clock;
  const auto all = opened(child, series);
  child.end();
  for (const auto& probe : all) {
    const auto sampled = probe->sample(clock, series);
    EXPECT_TRUE(sampled) << probe->name() << ": " << sampled.error().message;
  }
}

}  // namespace
}  // namespace assay::session
