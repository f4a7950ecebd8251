// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include <assay/placement/fleet.h>
#include <assay/promapi/query.h>

namespace assay::placement {

/// What Prometheus knows of nodes, as it answered. Values are shares and bytes.
struct LiveSeries {
  using Series = std::vector<promapi::InstantValue>;
  Series identities;     ///< char_node_device_model, or another with its labels
  Series identity_ages;  ///< seconds, of the same series
  Series unames;         ///< node_uname_info
  Series busy;           ///< by instance
  Series busy_ages;      ///< seconds, by instance
  Series boots;          ///< when it was started, seconds since 1970
  Series cores;          ///< by instance
  Series disk_used;      ///< of "/"
  Series memory_bytes;
  Series memory_available;
  Series watts;  ///< char_node_cpu_energy_watt
};

struct JoinRules {
  /// By a node's name: the instance of its series, where neither its own name for itself nor its
  /// instance tells.
  std::map<std::string, std::string> instances = {};
  double oldest_seconds = 120;  ///< older samples are of a node that is gone
};

/// Which series belong to which node, by what they say and never by their order: a node's series
/// are of the instance that calls itself by the node's name (node_uname_info), else of the instance
/// that is called so, else of the one that the rules name. Nodes that are stale, lack something or
/// contradict themselves are left out, with the reason.
Fleet join(const LiveSeries& series, const JoinRules& rules);

/// Asks for all of it. Fails when Prometheus does not answer, and when it knows no node.
Result<LiveSeries> read_live(promapi::Queries& queries, net::Stopper* stopper = nullptr);

}  // namespace assay::placement
