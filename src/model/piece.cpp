// SPDX-License-Identifier: Apache-2.0
#include "layers.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <numeric>
#include <set>

#include <assay/model/inspect.h>
#include <assay/model/piece.h>

namespace assay::model {
namespace {

using Names = std::set<std::string_view>;

const Names kActivations = {"Relu",        "Clip",      "LeakyRelu", "PRelu",    "Sigmoid", "Tanh",
                            "HardSigmoid", "HardSwish", "Elu",       "Selu",     "Celu",    "Mish",
                            "Softplus",    "Softsign",  "Gelu",      "FastGelu", "Swish",   "Silu"};
const Names kSimple = {"Add",   "Sub",        "Mul",  "Div",   "Pow",   "Sqrt",    "Erf",
                       "Exp",   "Log",        "Neg",  "Abs",   "Max",   "Min",     "Sum",
                       "Mean",  "Where",      "Cast", "Not",   "Equal", "Greater", "Less",
                       "Floor", "Reciprocal", "Ceil", "Round", "Sign",  "Dropout", "Identity"};
const Names kReducing = {"ReduceMean",
                         "ReduceSum",
                         "ReduceMax",
                         "ReduceMin",
                         "Softmax",
                         "LogSoftmax",
                         "ReduceL2",
                         "InstanceNormalization",
                         "LayerNormalization",
                         "ArgMax",
                         "ArgMin",
                         "GroupNormalization",
                         "LRN",
                         "ReduceProd",
                         "LpNormalization"};
const Names kMoving = {"Concat",         "Transpose", "Slice",          "Split",    "Pad",
                       "Gather",         "Resize",    "Upsample",       "Expand",   "DepthToSpace",
                       "SpaceToDepth",   "Tile",      "GatherElements", "GatherND", "ScatterND",
                       "ScatterElements"};
const Names kViews = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Shape", "Identity", "Dropout"};
const Names kCostly = {"Sigmoid",  "Tanh",    "Erf",   "Exp",       "Log",  "Sqrt",
                       "Pow",      "Softmax", "Elu",   "Selu",      "Gelu", "Mish",
                       "Softplus", "Silu",    "Swish", "LogSoftmax"};

bool is_pool(std::string_view op) {
  return op.ends_with("Pool");
}
bool is_recurrent(std::string_view op) {
  return op == "LSTM" || op == "GRU" || op == "RNN";
}
bool is_mapping(std::string_view op) {
  return kActivations.contains(op) || kSimple.contains(op) || op == "BatchNormalization";
}

constexpr size_t kMostPieces = 500;  ///< only hostile models have more different ones
constexpr size_t kLongestName = 1000;

/// Puts steps together, in the order of execution.
class Maker {
 public:
  explicit Maker(const Trace& trace)
      : trace_(trace),
        costs_(costs(trace)),
        piece_of_(trace.values.size(), -1),
        readers_(trace.values.size(), 0) {
    for (const auto& step : trace.steps) {
      for (const int input : step.inputs)
        if (input >= 0) ++readers_[static_cast<size_t>(input)];
    }
    for (const int output : trace.outputs)
      if (output >= 0) ++readers_[static_cast<size_t>(output)];
  }

  Pieces make() {
    for (size_t i = 0; i < trace_.steps.size(); ++i) {
      const Step& step = trace_.steps[i];
      if (step.holds_steps) hold(step);
      if (step.folded || step.holds_steps || step.times == 0 || is_dropped(step, costs_[i]))
        continue;
      add(step, costs_[i]);
    }
    double bytes = 0;
    for (const auto* list : {&trace_.inputs, &trace_.outputs}) {
      for (const int value : *list)
        if (value >= 0) bytes += known(value).bytes();
    }
    Piece call{.kind = "call", .bytes_read = bytes};
    for (const auto& piece : made_.list) call.merged += piece.times;
    made_.list.push_back(call);
    put_together();
    return std::move(made_);
  }

 private:
  const Known& known(int value) const { return trace_.values[static_cast<size_t>(value)].known; }
  bool is_constant(int value) const {
    return value < 0 || trace_.values[static_cast<size_t>(value)].constant;
  }

  /// Of a branch that is not taken.
  static bool is_dropped(const Step& step, const Cost& cost) {
    return step.level > 0 && cost.flops == 0 && cost.bytes_read == 0 && cost.bytes_written == 0;
  }
  void hold(const Step& step) {
    for (const auto& name : step.node->outputs) made_.holders.insert(name);
    if (!step.node->name.empty()) made_.holders.insert(step.node->name);
  }

  void add(const Step& step, const Cost& cost) {
    const int into = merged_into(step);
    const size_t number = into >= 0 ? static_cast<size_t>(into) : made_.list.size();
    if (into >= 0) {
      Piece& piece = made_.list[number];
      piece.merged_bytes += (cost.bytes_read + cost.bytes_written) / step.times;
      if (!kViews.contains(step.node->op)) piece.merged += 1;
      if (kCostly.contains(step.node->op)) piece.costly += 1;
    } else {
      made_.list.push_back(piece_of(step, cost));
    }
    made_.by_name.try_emplace(step.node->name, number);
    for (const auto& output : step.node->outputs) made_.by_name.try_emplace(output, number);
    for (const int output : step.outputs)
      if (output >= 0) piece_of_[static_cast<size_t>(output)] = static_cast<int>(number);
  }

  /// Pieces that are alike are one that runs several times.
  void put_together() {
    std::map<std::vector<double>, size_t> known;
    std::vector<size_t> place;
    std::vector<Piece> different;
    for (const auto& piece : made_.list) {
      const auto kind = std::find(kPieceKinds.begin(), kPieceKinds.end(), piece.kind);
      std::vector<double> key = {static_cast<double>(kind - kPieceKinds.begin())};
      for (const auto& column : kPieceColumns)
        if (column.value != &Piece::times) key.push_back(piece.*column.value);
      const auto [at, is_new] = known.try_emplace(std::move(key), different.size());
      place.push_back(at->second);
      if (is_new)
        different.push_back(piece);
      else
        different[at->second].times += piece.times;
    }
    bound(different, place);
    made_.list = std::move(different);
    for (auto& [name, number] : made_.by_name) number = place[number];
  }

  /// Of very many the least dear become one; the call stays the last.
  static void bound(std::vector<Piece>& pieces, std::vector<size_t>& place) {
    if (pieces.size() <= kMostPieces) return;
    std::vector<size_t> order(pieces.size() - 1);
    std::iota(order.begin(), order.end(), 0U);
    const auto price = [&](size_t i) {
      return pieces[i].times * (pieces[i].macs + pieces[i].bytes_read + pieces[i].bytes_written);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return price(a) > price(b); });
    std::vector<Piece> kept;
    std::vector<size_t> moved(pieces.size(), kMostPieces - 1);
    Piece rest{.kind = "other"};
    for (const size_t i : order) {
      const Piece& piece = pieces[i];
      moved[i] = std::min(kept.size(), kMostPieces - 2);
      if (kept.size() < kMostPieces - 2) {
        kept.push_back(piece);
        continue;
      }
      rest.macs += piece.times * piece.macs;
      rest.bytes_read += piece.times * piece.bytes_read;
      rest.bytes_written += piece.times * piece.bytes_written;
      rest.merged += piece.times;
    }
    kept.push_back(rest);
    kept.push_back(pieces.back());
    pieces = std::move(kept);
    for (size_t& number : place) number = moved[number];
  }

  /// The last piece among those that make what the step reads; -1 where none does.
  int maker_of(const Step& step) const {
    int last = -1;
    for (const int input : step.inputs)
      if (input >= 0) last = std::max(last, piece_of_[static_cast<size_t>(input)]);
    return last;
  }
  bool reads_only(const Step& step, int piece) const {
    return std::all_of(step.inputs.begin(), step.inputs.end(), [&](int input) {
      return is_constant(input) || piece_of_[static_cast<size_t>(input)] == piece;
    });
  }
  bool is_only_reader(const Step& step, int piece) const {
    return std::all_of(step.inputs.begin(), step.inputs.end(), [&](int input) {
      return input < 0 || piece_of_[static_cast<size_t>(input)] != piece ||
             readers_[static_cast<size_t>(input)] == 1 || kViews.contains(step.node->op);
    });
  }

  int merged_into(const Step& step) const {
    const int last = maker_of(step);
    if (last < 0) return -1;
    if (kViews.contains(step.node->op)) return last;
    const Piece& piece = made_.list[static_cast<size_t>(last)];
    return piece.times == step.times && takes(piece, step, last) ? last : -1;
  }
  bool takes(const Piece& piece, const Step& step, int number) const {
    const std::string_view op = step.node->op;
    const bool own = reads_only(step, number);
    if (piece.kind == "conv" || piece.kind == "depthwise" || piece.kind == "transposed") {
      if (op == "BatchNormalization" || kActivations.contains(op)) return own;
      // Residual connections, gates, and swish: x * sigmoid(x).
      return (op == "Add" || op == "Mul") && (own || is_only_reader(step, number));
    }
    if (piece.kind == "product") {
      const bool fits = kActivations.contains(op) || (op == "Add" && piece.merged == 0);
      return fits && own && is_only_reader(step, number);
    }
    // Chains of mappings, like the many operators of a normalization.
    return (piece.kind == "mapping" || piece.kind == "reduced") && (is_mapping(op) || is_mean(op));
  }
  static bool is_mean(std::string_view op) { return op == "ReduceMean"; }

  Piece piece_of(const Step& step, const Cost& cost) const {
    Piece piece{.kind = kind_of(step), .times = step.times};
    piece.macs = cost.macs / step.times;
    piece.bytes_read = cost.bytes_read / step.times;
    piece.bytes_written = cost.bytes_written / step.times;
    if (kCostly.contains(step.node->op)) piece.costly = 1;
    for (const int input : step.inputs) {
      if (input >= 0 && is_constant(input)) piece.weight_bytes += known(input).bytes();
    }
    add_shapes(step, piece);
    return piece;
  }

  std::string kind_of(const Step& step) const {
    const std::string_view op = step.node->op;
    if (is_conv(op)) return is_depthwise(step) ? "depthwise" : "conv";
    if (op == "ConvTranspose") return "transposed";
    if (is_gemm(op) || is_matmul(op)) {
      const size_t at = weights_input(op);
      return at < step.inputs.size() && is_constant(step.inputs[at]) ? "product" : "plain_product";
    }
    if (is_recurrent(op)) return "recurrent";
    if (is_pool(op)) return "pooling";
    if (kReducing.contains(op)) return "reduced";
    if (is_mapping(op)) return "mapping";
    return kMoving.contains(op) || kViews.contains(op) ? "moving" : "other";
  }

  bool is_depthwise(const Step& step) const {
    const Dims dims = weight_dims(step);
    return integer(step, "group") > 1 && dims.size() > 1 && dims[1] == 1;
  }
  Dims weight_dims(const Step& step) const {
    const size_t at = weights_input(step.node->op);
    if (at >= step.inputs.size() || step.inputs[at] < 0) return {};
    return known(step.inputs[at]).dims.value_or(Dims());
  }
  static double integer(const Step& step, const char* name) {
    const Attribute* found = step.node->attribute(name);
    return found != nullptr && found->integer ? static_cast<double>(*found->integer) : 1;
  }
  static double product(const std::vector<int64_t>& sizes, size_t first) {
    double all = 1;
    for (size_t i = first; i < sizes.size(); ++i)
      all *= static_cast<double>(std::max<int64_t>(sizes[i], 1));
    return all;
  }

  void add_shapes(const Step& step, Piece& piece) const {
    const Dims out = step.outputs.empty() || step.outputs[0] < 0
                         ? Dims()
                         : known(step.outputs[0]).dims.value_or(Dims());
    piece.groups = integer(step, "group");
    if (piece.kind == "conv" || piece.kind == "depthwise" || piece.kind == "transposed" ||
        piece.kind == "pooling") {
      add_window(step, out, piece);
      return;
    }
    // What lies together, and how often.
    piece.channels_out = out.empty() ? 1 : product({out.back()}, 0);
    piece.positions = out.empty() ? 1 : product(out, 0) / piece.channels_out;
    if (piece.kind == "product" || piece.kind == "plain_product")
      piece.channels_in = piece.macs / (piece.channels_out * piece.positions);
    if (piece.kind == "recurrent") add_steps(step, piece);
  }
  void add_window(const Step& step, const Dims& out, Piece& piece) const {
    const Dims weight = weight_dims(step);
    piece.channels_out = out.size() > 1 ? product({out[1]}, 0) : 1;
    piece.positions = out.size() > 2 ? product(out, 2) : 1;
    piece.channels_in = weight.size() > 1 ? product({weight[1]}, 0) : 1;
    piece.window = weight.size() > 2 ? product(weight, 2) : 1;
    if (const Attribute* shape = step.node->attribute("kernel_shape"))
      piece.window = product(shape->integers, 0);
    if (const Attribute* strides = step.node->attribute("strides"))
      piece.stride = product(strides->integers, 0);
  }
  void add_steps(const Step& step, Piece& piece) const {
    if (step.inputs.empty() || step.inputs[0] < 0) return;
    const Dims in = known(step.inputs[0]).dims.value_or(Dims());
    if (in.empty()) return;
    piece.channels_in = product({in.back()}, 0);
    piece.window = product({in.front()}, 0);
  }

  const Trace& trace_;
  std::vector<Cost> costs_;
  std::vector<int> piece_of_;  ///< of values
  std::vector<int> readers_;   ///< of values
  Pieces made_;
};

/// The longest beginning of it that is a name, if what follows does not go on with that name; or
/// that of its last word: "fused Gemm_15".
const size_t* find_piece(const Pieces& pieces, std::string_view name) {
  for (size_t length = name.size(); length > 0; --length) {
    const bool ends =
        length == name.size() || !std::isalnum(static_cast<unsigned char>(name[length]));
    if (!ends) continue;
    const auto found = pieces.by_name.find(name.substr(0, length));
    if (found != pieces.by_name.end()) return &found->second;
  }
  const size_t space = name.rfind(' ');
  if (space != name.npos) return find_piece(pieces, name.substr(space + 1));
  return nullptr;
}

constexpr double kLeastFound = 0.5;    ///< of the time that was told
constexpr double kLeastBeside = 0.02;  ///< of an inference, that is none of its pieces'

}  // namespace

Pieces pieces(const Trace& trace) {
  return Maker(trace).make();
}

Result<Pieces> pieces(const std::filesystem::path& file, const TraceOptions& options) {
  ASSAY_TRY(const MappedFile mapped, MappedFile::open(file));
  ASSAY_TRY(const Model model, scan(mapped.bytes(), file.native(), &mapped));
  ASSAY_TRY(const Trace traced, trace(model, options));
  return pieces(traced);
}

std::vector<double> piece_seconds(const Pieces& pieces, const std::vector<OperatorTime>& told,
                                  double seconds) {
  std::vector<double> found(pieces.list.size(), 0.0);
  if (pieces.list.size() < 2) return {};
  double sum = 0;
  double matched = 0;
  size_t last = 0;
  for (const auto& one : told) {
    if (pieces.holders.contains(one.name)) continue;
    const std::string_view name = std::string_view(one.name).substr(0, kLongestName);
    if (const size_t* piece = find_piece(pieces, name)) {
      last = *piece;
      matched += one.seconds;
    }
    sum += one.seconds;
    found[last] += one.seconds;
  }
  if (!(sum > 0) || !(seconds > 0) || matched < kLeastFound * sum) return {};
  const double scale = std::min(1.0, (1 - kLeastBeside) * seconds / sum);
  for (double& one : found) one *= scale;
  found.back() = seconds - scale * sum;
  return found;
}

}  // namespace assay::model
