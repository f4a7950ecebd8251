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
constexpr double kLeastMicroseconds = 1'000;  // what the kernel accepts

int64_t turn(double cores) {
  return std::llround(std::max(kLeastMicroseconds, cores * kPeriodMicroseconds));
}

}  // namespace

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
  const auto& paths = state_->group.paths();
  std::vector<std::pair<std::string, std::string>> writes;
  if (paths.unified) {
    writes = {{paths.v2 + "/cpu.max", fmt::format("{} {:.0f}", turn(cores), kPeriodMicroseconds)}};
  } else {
    writes = {{paths.cpu + "/cpu.cfs_period_us", fmt::format("{:.0f}", kPeriodMicroseconds)},
              {paths.cpu + "/cpu.cfs_quota_us", std::to_string(turn(cores))}};
  }
  for (const auto& [file, value] : writes) {
    const int error = write_text(state_->root.path(file).native(), value);
    if (error != 0)
      return refused_errno(fmt::format("cannot write {} into {}", value, file), error);
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
