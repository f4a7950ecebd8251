// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "call.h"

/// Shapes and types of operators' outputs from what is known of their inputs. A rule leaves out
/// what it cannot tell. An output without a type gets that of the first input.
namespace assay::model::rules {

using Rule = void (*)(Call&);

// One to one, or stretched to each other.
void same(Call& call);
void stretched(Call& call);
void compared(Call& call);
void tested(Call& call);
void cast(Call& call);
void where(Call& call);
void nothing(Call& call);
void quantize(Call& call);
void dequantize(Call& call);
void dynamic_quantize(Call& call);
void dropout(Call& call);
void quantized_stretched(Call& call);

// Layers.
void conv(Call& call);
void quantized_conv(Call& call);
void integer_conv(Call& call);
void transposed_conv(Call& call);
void pool(Call& call);
void global_pool(Call& call);
void roi_pool(Call& call);
void unpool(Call& call);
void gemm(Call& call);
void matmul(Call& call);
void integer_matmul(Call& call);
void quantized_matmul(Call& call);
void packed_matmul(Call& call);
void einsum(Call& call);
void recurrent(Call& call);
void normalization(Call& call);
void batch_normalization(Call& call);
void skip_normalization(Call& call);
void embed_normalization(Call& call);
void attention(Call& call);
void fused_attention(Call& call);
void heads_attention(Call& call);
void loss(Call& call);
void grid_sample(Call& call);
void resize(Call& call);

// Moving data.
void reshape(Call& call);
void flatten(Call& call);
void squeeze(Call& call);
void unsqueeze(Call& call);
void transpose(Call& call);
void concat(Call& call);
void split(Call& call);
void slice(Call& call);
void gather(Call& call);
void gather_elements(Call& call);
void gather_nd(Call& call);
void expand(Call& call);
void tile(Call& call);
void pad(Call& call);
void depth_to_space(Call& call);
void space_to_depth(Call& call);

// Reductions and makers.
void reduce(Call& call);
void arg_extreme(Call& call);
void top_k(Call& call);
void shape(Call& call);
void size(Call& call);
void constant_of_shape(Call& call);
void range(Call& call);
void one_hot(Call& call);
void eye_like(Call& call);
void random(Call& call);
void random_like(Call& call);
void non_zero(Call& call);
void compress(Call& call);
void unique(Call& call);
void non_max_suppression(Call& call);
void window(Call& call);
void dft(Call& call);
void stft(Call& call);
void mel_matrix(Call& call);
void det(Call& call);

// ai.onnx.ml
void scaler(Call& call);
void classifier(Call& call);
void regressor(Call& call);
void label_encoder(Call& call);

}  // namespace assay::model::rules
