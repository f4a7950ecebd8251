// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "call.h"

namespace assay::model {

/// Which bytes an operator touches.
enum class Traffic : uint8_t {
  all,    ///< every input once, every output once
  none,   ///< the output is another view of the input
  picks,  ///< reads of its first input only what it writes
  makes,  ///< only writes
};

struct Work {
  double macs = 0;
  double flops = 0;  ///< beside two for each MAC
  Traffic traffic = Traffic::all;
};

/// The work of one operator whose shapes are known; a missing dimension counts as 1.
namespace work {

using WorkOf = Work (*)(const Call&);

Work view(const Call& call);
Work move(const Call& call);
Work pick(const Call& call);
Work make(const Call& call);
/// So many operations for each element of the output.
template <int Operations>
Work each(const Call& call) {
  double elements = 0;
  if (!call.out.empty()) elements = call.out.front().elements();
  return {0, Operations * elements, Traffic::all};
}
/// So many for each element of the first input.
template <int Operations>
Work each_read(const Call& call) {
  return {0, Operations * call.in(0).elements(), Traffic::all};
}
Work variadic(const Call& call);
Work conv(const Call& call);
Work quantized_conv(const Call& call);
Work transposed_conv(const Call& call);
Work deform_conv(const Call& call);
Work pool(const Call& call);
Work gemm(const Call& call);
Work matmul(const Call& call);
Work packed_matmul(const Call& call);
Work einsum(const Call& call);
Work lstm(const Call& call);
Work gru(const Call& call);
Work rnn(const Call& call);
Work attention(const Call& call);
Work fused_attention(const Call& call);
Work local_normalization(const Call& call);
Work resize(const Call& call);
Work dft(const Call& call);
Work sort(const Call& call);
Work linear_model(const Call& call);
Work vector_machine(const Call& call);
Work trees(const Call& call);

}  // namespace work
}  // namespace assay::model
