// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

/// Which operators are layers that people count.
namespace assay::model {

inline bool is_conv(std::string_view op) {
  return op == "Conv" || op == "FusedConv" || op == "QLinearConv" || op == "ConvInteger";
}

inline bool is_gemm(std::string_view op) {
  return op == "Gemm" || op == "FusedGemm" || op == "QGemm";
}

inline bool is_matmul(std::string_view op) {
  return op == "MatMul" || op == "FusedMatMul" || op == "MatMulInteger" || op == "QLinearMatMul" ||
         op == "MatMulIntegerToFloat" || op == "DynamicQuantizeMatMul" || op == "MatMulNBits";
}

/// Where the weights stand among the inputs.
inline size_t weights_input(std::string_view op) {
  return op.starts_with("QLinear") ? 3 : 1;
}

}  // namespace assay::model
