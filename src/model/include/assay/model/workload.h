// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <assay/model/inspect.h>
#include <assay/model/piece.h>

namespace assay::model {

/// What one inference makes an engine do, as few numbers: what times are learned from and told by.
struct Workload {
  double macs_conv1x1 = 0;  ///< of convolutions that are not grouped, by the size of their kernel
  double macs_conv3x3 = 0;
  double macs_conv_other = 0;
  double macs_depthwise = 0;
  double macs_grouped = 0;
  double macs_matmul = 0;
  double macs_other = 0;         ///< recurrent layers, attention in one operator, and others
  double macs_few_channels = 0;  ///< of those above: convolutions of fewer than 16 channels
  double bytes_conv = 0;         ///< read and written by convolutions, but depthwise ones
  double bytes_depthwise = 0;
  double bytes_matmul = 0;
  double bytes_other = 0;  ///< mostly operators that only move or map numbers
  double weight_bytes = 0;
  double activation_bytes = 0;  ///< written by all operators
  double peak_activation_bytes = 0;
  double operators = 0;  ///< that run
  double conv_operators = 0;
  double depthwise_operators = 0;
  double matmul_operators = 0;

  double macs() const;
};

/// A number of a workload and the name of its column in tables.
struct WorkloadColumn {
  std::string_view name;
  double Workload::*value;
};
inline constexpr std::array kWorkloadColumns = {
    WorkloadColumn{"macs_conv1x1", &Workload::macs_conv1x1},
    WorkloadColumn{"macs_conv3x3", &Workload::macs_conv3x3},
    WorkloadColumn{"macs_conv_other", &Workload::macs_conv_other},
    WorkloadColumn{"macs_depthwise", &Workload::macs_depthwise},
    WorkloadColumn{"macs_grouped", &Workload::macs_grouped},
    WorkloadColumn{"macs_matmul", &Workload::macs_matmul},
    WorkloadColumn{"macs_other", &Workload::macs_other},
    WorkloadColumn{"macs_few_channels", &Workload::macs_few_channels},
    WorkloadColumn{"bytes_conv", &Workload::bytes_conv},
    WorkloadColumn{"bytes_depthwise", &Workload::bytes_depthwise},
    WorkloadColumn{"bytes_matmul", &Workload::bytes_matmul},
    WorkloadColumn{"bytes_other", &Workload::bytes_other},
    WorkloadColumn{"weight_bytes", &Workload::weight_bytes},
    WorkloadColumn{"activation_bytes", &Workload::activation_bytes},
    WorkloadColumn{"peak_activation_bytes", &Workload::peak_activation_bytes},
    WorkloadColumn{"operators", &Workload::operators},
    WorkloadColumn{"conv_operators", &Workload::conv_operators},
    WorkloadColumn{"depthwise_operators", &Workload::depthwise_operators},
    WorkloadColumn{"matmul_operators", &Workload::matmul_operators},
};

/// All that placement asks of a model file.
struct Characteristics {
  Counts counts;
  Workload workload;
  std::string precision;      ///< "float32"; "int8" where most of the weights are
  std::vector<Value> inputs;  ///< with the shapes that were taken for symbolic ones
  std::vector<Piece> pieces = {};
};

Workload workload(const Trace& trace);
/// Reads the file and binds symbolic dimensions; the weights are not read.
Result<Characteristics> characteristics(const std::filesystem::path& file,
                                        const TraceOptions& options);
Characteristics characteristics(const Trace& trace);

}  // namespace assay::model
