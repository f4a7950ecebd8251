// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <assay/model/graph.h>

namespace assay::model {

/// The nodes' places in an order in which every input stands before its use; the file's order where
/// that is one. Fails when the nodes wait for each other.
Result<std::vector<size_t>> sorted(const std::vector<Node>& nodes);

/// The names that a node uses, those within its graphs that may come from outside included.
std::vector<std::string_view> used_names(const Node& node);

}  // namespace assay::model
