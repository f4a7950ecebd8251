// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <assay/probes/group.h>

/// The files of a group into a GroupUse, each in one pass. Pure functions over any bytes.
namespace assay::probes {

/// memory.stat; Use::memory has to be there already.
void take_memory_stat_v1(std::string_view text, GroupUse& use);
void take_memory_stat_v2(std::string_view text, GroupUse& use);
/// cpu.stat of v1: throttling alone.
void take_cpu_stat_v1(std::string_view text, GroupUse& use);
void take_cpu_stat_v2(std::string_view text, GroupUse& use);
/// cpuacct.stat; its parts are counted in ticks.
void take_cpuacct_stat(std::string_view text, GroupUse& use);
void take_io_stat(std::string_view text, GroupUse& use);
enum class BlkioUnit : uint8_t { bytes, operations };
void take_blkio(std::string_view text, BlkioUnit unit, GroupUse& use);
/// /proc/PID/net/dev without loopback.
void take_net_dev(std::string_view text, GroupUse& use);

}  // namespace assay::probes
