// SPDX-License-Identifier: Apache-2.0
#include "process/cgroup.h"
#include "process/owner.h"
#include "process/tree.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/launch/cpu_group.h>

namespace assay::launch {
namespace {

constexpr double kPeriodMicroseconds = 10'000;
// What the kernel accepts: the shortest turn and the longest period.
constexpr double kLeastMicroseconds = 1'000;
constexpr double kMostMicroseconds = 1'000'000;

}  // namespace

std::vector<LimitWrite> turn_writes(const probes::CgroupPaths& paths, double cores) {
  const double period =
      std::clamp(kLeastMicroseconds / cores, kPeriodMicroseconds, kMostMicroseconds);
  const auto turn = std::llround(std::max(kLeastMicroseconds, cores * period));
  if (paths.unified)
    return {{"cpu", paths.v2 + "/cpu.max", fmt::format("{} {:.0f}", turn, period)}};
  // A period that is cut short under the turn of the one before would ask for more than a limited
  // parent has.
  return {{"cpu", paths.cpu + "/cpu.cfs_quota_us", std::to_string(turn)},
          {"cpu", paths.cpu + "/cpu.cfs_period_us", fmt::format("{:.0f}", period)}};
}

struct CpuGroup::State {
  SysRoot root;
  Cgroup group;
};

CpuGroup::CpuGroup(std::unique_ptr<State> state) : state_(std::move(state)) {}
CpuGroup::CpuGroup(CpuGroup&&) noexcept = default;
CpuGroup& CpuGroup::operator=(CpuGroup&&) noexcept = default;
CpuGroup::~CpuGroup() = default;

Result<CpuGroup> CpuGroup::make(double cores, const SysRoot& root) {
  const Owner owner = Owner::self(SysRoot());
  Limits limits;
  limits.cpus = cores;
  ASSAY_TRY(Cgroup made,
            Cgroup::make(root, find_cgroup_places(root), group_name("share", 0, owner), limits));
  CpuGroup group(std::make_unique<State>(State{root, std::move(made)}));
  ASSAY_CHECK(group.limit(cores));
  return group;
}

Result<void> CpuGroup::limit(double cores) {
  for (const auto& write : turn_writes(state_->group.paths(), cores)) {
    const int error = write_text(state_->root.path(write.file).native(), write.value);
    if (error != 0)
      return refused_errno(fmt::format("cannot write {} into {}", write.value, write.file), error);
  }
  return {};
}

Result<void> CpuGroup::join() {
  for (const auto& folder : state_->group.folders()) {
    const int error = write_text(folder + "/cgroup.procs", "0");
    if (error != 0)
      return refused_errno(fmt::format("cannot move into the control group {}", folder), error);
  }
  return {};
}

}  // namespace assay::launch
