// SPDX-License-Identifier: Apache-2.0
#include "operators.h"

#include <array>
#include <string_view>
#include <unordered_map>

namespace assay::model {
namespace {

using Table = std::unordered_map<std::string_view, Operator>;

/// One number in, one number out.
void add_elementwise(Table& table) {
  constexpr std::array kOne = {
      "Abs",  "Acos", "Acosh", "Asin",  "Asinh", "Atan", "Atanh",           "Ceil",       "Cos",
      "Cosh", "Erf",  "Exp",   "Floor", "Log",   "Neg",  "Reciprocal",      "Relu",       "Round",
      "Sign", "Sin",  "Sinh",  "Sqrt",  "Tan",   "Tanh", "ThresholdedRelu", "BitwiseNot", "Shrink"};
  for (const char* name : kOne) table[name] = {rules::same, work::each<1>};
  constexpr std::array kTwo = {"Clip",   "LeakyRelu",       "PRelu", "HardSigmoid", "Softsign",
                               "CumSum", "ReverseSequence", "Trilu", "Binarizer"};
  for (const char* name : kTwo) table[name] = {rules::same, work::each<2>};
  constexpr std::array kFour = {"Sigmoid", "Elu",  "Selu",     "Celu",      "Softplus", "HardSwish",
                                "Mish",    "Gelu", "FastGelu", "QuickGelu", "Swish",    "Silu"};
  for (const char* name : kFour) table[name] = {rules::same, work::each<4>};
  table["BiasGelu"] = {rules::same, work::each<5>};
  constexpr std::array kPairs = {"Add", "Sub",      "Mul",        "Div",       "Mod",
                                 "Pow", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor"};
  for (const char* name : kPairs) table[name] = {rules::stretched, work::each<1>};
  constexpr std::array kMany = {"Sum", "Max", "Min", "Mean"};
  for (const char* name : kMany) table[name] = {rules::stretched, work::variadic};
  constexpr std::array kCompared = {
      "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor"};
  for (const char* name : kCompared) table[name] = {rules::compared, work::each<1>};
  constexpr std::array kTested = {"Not", "IsNaN", "IsInf"};
  for (const char* name : kTested) table[name] = {rules::tested, work::each<1>};
  table["Where"] = {rules::where, work::each<1>};
  table["Cast"] = {rules::cast, work::each<1>};
  table["CastLike"] = {rules::cast, work::each<1>};
  table["BitCast"] = {rules::cast, work::view};
}

void add_layers(Table& table) {
  table["Conv"] = {rules::conv, work::conv};
  table["FusedConv"] = {rules::conv, work::conv};
  table["ConvInteger"] = {rules::integer_conv, work::conv};
  table["QLinearConv"] = {rules::quantized_conv, work::quantized_conv};
  table["ConvTranspose"] = {rules::transposed_conv, work::transposed_conv};
  table["DeformConv"] = {rules::conv, work::deform_conv};
  constexpr std::array kPools = {"MaxPool", "AveragePool", "LpPool", "QLinearAveragePool"};
  for (const char* name : kPools) table[name] = {rules::pool, work::pool};
  constexpr std::array kGlobal = {"GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool",
                                  "QLinearGlobalAveragePool"};
  for (const char* name : kGlobal) table[name] = {rules::global_pool, work::each_read<1>};
  table["MaxRoiPool"] = {rules::roi_pool, work::each_read<1>};
  table["RoiAlign"] = {rules::roi_pool, work::each<8>};
  table["MaxUnpool"] = {rules::unpool, work::move};
  constexpr std::array kGemms = {"Gemm", "FusedGemm"};
  for (const char* name : kGemms) table[name] = {rules::gemm, work::gemm};
  constexpr std::array kProducts = {"MatMul", "FusedMatMul", "TransposeMatMul"};
  for (const char* name : kProducts) table[name] = {rules::matmul, work::matmul};
  constexpr std::array kIntegers = {"MatMulInteger", "MatMulIntegerToFloat",
                                    "DynamicQuantizeMatMul"};
  for (const char* name : kIntegers) table[name] = {rules::integer_matmul, work::matmul};
  table["QLinearMatMul"] = {rules::quantized_matmul, work::matmul};
  table["MatMulNBits"] = {rules::packed_matmul, work::packed_matmul};
  table["Einsum"] = {rules::einsum, work::einsum};
  table["LSTM"] = {rules::recurrent, work::lstm};
  table["GRU"] = {rules::recurrent, work::gru};
  table["RNN"] = {rules::recurrent, work::rnn};
  table["MultiHeadAttention"] = {rules::heads_attention, work::attention};
  table["GroupQueryAttention"] = {rules::heads_attention, work::attention};
  table["QAttention"] = {rules::fused_attention, work::fused_attention};
  table["RotaryEmbedding"] = {rules::same, work::each<4>};
}

void add_normalization(Table& table) {
  table["BatchNormalization"] = {rules::batch_normalization, work::each<2>};
  constexpr std::array kSpread = {"LayerNormalization",           "InstanceNormalization",
                                  "GroupNormalization",           "MeanVarianceNormalization",
                                  "SimplifiedLayerNormalization", "RMSNormalization"};
  for (const char* name : kSpread) table[name] = {rules::normalization, work::each<7>};
  constexpr std::array kSkip = {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"};
  for (const char* name : kSkip) table[name] = {rules::skip_normalization, work::each<8>};
  table["EmbedLayerNormalization"] = {rules::embed_normalization, work::each<9>};
  table["LpNormalization"] = {rules::same, work::each<3>};
  table["LRN"] = {rules::same, work::local_normalization};
  constexpr std::array kSoft = {"Softmax", "LogSoftmax", "Hardmax", "QLinearSoftmax"};
  for (const char* name : kSoft) table[name] = {rules::same, work::each<5>};
  constexpr std::array kReduced = {"ReduceSum",       "ReduceMean",     "ReduceMax", "ReduceMin",
                                   "ReduceProd",      "ReduceL1",       "ReduceL2",  "ReduceLogSum",
                                   "ReduceLogSumExp", "ReduceSumSquare"};
  for (const char* name : kReduced) table[name] = {rules::reduce, work::each_read<1>};
  constexpr std::array kExtremes = {"ArgMax", "ArgMin"};
  for (const char* name : kExtremes) table[name] = {rules::arg_extreme, work::each_read<1>};
  constexpr std::array kLosses = {"SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"};
  for (const char* name : kLosses) table[name] = {rules::loss, work::each_read<5>};
}

void add_movers(Table& table) {
  table["Reshape"] = {rules::reshape, work::view};
  table["Flatten"] = {rules::flatten, work::view};
  table["Squeeze"] = {rules::squeeze, work::view};
  table["Unsqueeze"] = {rules::unsqueeze, work::view};
  table["Identity"] = {rules::same, work::view};
  table["Dropout"] = {rules::dropout, work::view};
  table["Transpose"] = {rules::transpose, work::move};
  table["Concat"] = {rules::concat, work::move};
  table["Split"] = {rules::split, work::move};
  table["Slice"] = {rules::slice, work::pick};
  table["Gather"] = {rules::gather, work::pick};
  table["GatherElements"] = {rules::gather_elements, work::pick};
  table["GatherND"] = {rules::gather_nd, work::pick};
  constexpr std::array kScatters = {"Scatter", "ScatterElements", "ScatterND", "TensorScatter"};
  for (const char* name : kScatters) table[name] = {rules::same, work::move};
  table["Expand"] = {rules::expand, work::move};
  table["Tile"] = {rules::tile, work::move};
  table["Pad"] = {rules::pad, work::move};
  table["DepthToSpace"] = {rules::depth_to_space, work::move};
  table["SpaceToDepth"] = {rules::space_to_depth, work::move};
  table["Resize"] = {rules::resize, work::resize};
  table["Upsample"] = {rules::resize, work::resize};
  table["GridSample"] = {rules::grid_sample, work::each<8>};
  table["Compress"] = {rules::compress, work::pick};
  table["Unique"] = {rules::unique, work::sort};
  table["TopK"] = {rules::top_k, work::sort};
  table["NonZero"] = {rules::non_zero, work::each_read<1>};
  table["NonMaxSuppression"] = {rules::non_max_suppression, work::sort};
}

void add_makers(Table& table) {
  table["Shape"] = {rules::shape, work::make};
  table["Size"] = {rules::size, work::make};
  table["ConstantOfShape"] = {rules::constant_of_shape, work::make};
  table["Range"] = {rules::range, work::make};
  table["OneHot"] = {rules::one_hot, work::make};
  table["EyeLike"] = {rules::eye_like, work::make};
  table["RandomNormal"] = {rules::random, work::make};
  table["RandomUniform"] = {rules::random, work::make};
  constexpr std::array kLike = {"RandomNormalLike", "RandomUniformLike", "Bernoulli",
                                "Multinomial"};
  for (const char* name : kLike) table[name] = {rules::random_like, work::make};
  constexpr std::array kWindows = {"BlackmanWindow", "HannWindow", "HammingWindow"};
  for (const char* name : kWindows) table[name] = {rules::window, work::each<4>};
  table["DFT"] = {rules::dft, work::dft};
  table["STFT"] = {rules::stft, work::dft};
  table["MelWeightMatrix"] = {rules::mel_matrix, work::each<2>};
  table["Det"] = {rules::det, work::each_read<1>};
}

void add_quantized(Table& table) {
  table["QuantizeLinear"] = {rules::quantize, work::each<2>};
  table["DequantizeLinear"] = {rules::dequantize, work::each<2>};
  table["DynamicQuantizeLinear"] = {rules::dynamic_quantize, work::each<4>};
  table["QLinearAdd"] = {rules::quantized_stretched, work::each<5>};
  table["QLinearMul"] = {rules::quantized_stretched, work::each<5>};
  table["QLinearSigmoid"] = {rules::same, work::each<6>};
  table["QLinearLeakyRelu"] = {rules::same, work::each<4>};
}

/// Lists of tensors and texts: nothing to count, but known.
void add_others(Table& table) {
  constexpr std::array kLists = {"SequenceAt",
                                 "SequenceConstruct",
                                 "SequenceEmpty",
                                 "SequenceErase",
                                 "SequenceInsert",
                                 "SequenceLength",
                                 "SplitToSequence",
                                 "ConcatFromSequence",
                                 "Optional",
                                 "OptionalGetElement",
                                 "OptionalHasElement",
                                 "StringNormalizer",
                                 "TfIdfVectorizer",
                                 "StringConcat",
                                 "StringSplit",
                                 "RegexFullMatch",
                                 "ImageDecoder",
                                 "ZipMap",
                                 "CastMap",
                                 "DictVectorizer",
                                 "SequenceMap"};
  for (const char* name : kLists) table[name] = {rules::nothing, work::view};
  table["Scaler"] = {rules::scaler, work::each<2>};
  table["Normalizer"] = {rules::scaler, work::each<3>};
  table["Imputer"] = {rules::same, work::each<1>};
  table["LabelEncoder"] = {rules::label_encoder, work::each<1>};
  table["LinearClassifier"] = {rules::classifier, work::linear_model};
  table["LinearRegressor"] = {rules::regressor, work::linear_model};
  table["SVMClassifier"] = {rules::classifier, work::vector_machine};
  table["SVMRegressor"] = {rules::regressor, work::vector_machine};
  table["TreeEnsembleClassifier"] = {rules::classifier, work::trees};
  table["TreeEnsembleRegressor"] = {rules::regressor, work::trees};
}

Table make_table() {
  Table table;
  add_elementwise(table);
  add_layers(table);
  add_normalization(table);
  add_movers(table);
  add_makers(table);
  add_quantized(table);
  add_others(table);
  return table;
}

const Table& table() {
  static const Table kTable = make_table();
  return kTable;
}

bool is_ours(std::string_view domain) {
  return domain.empty() || domain == "ai.onnx.ml" || domain.starts_with("com.microsoft");
}

}  // namespace

const Operator* find_operator(const Node& node) {
  static const Operator kAttention = {rules::attention, work::attention};
  static const Operator kFused = {rules::fused_attention, work::fused_attention};
  if (!is_ours(node.domain)) return nullptr;
  if (node.op == "Attention") return node.domain.empty() ? &kAttention : &kFused;
  const auto found = table().find(node.op);
  return found == table().end() ? nullptr : &found->second;
}

size_t known_operators() {
  return table().size() + 1;
}

}  // namespace assay::model
