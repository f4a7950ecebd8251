// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <assay/model/trace.h>

namespace assay::model {

/// What engines run as one: an operator together with those that are merged into it (a convolution
/// with its normalization and activation), by what decides how long it takes.
struct Piece {
  std::string kind;  ///< one of kPieceKinds
  double times = 1;  ///< that it runs in one inference
  double macs = 0;   ///< these and all others of one time
  double bytes_read = 0;
  double bytes_written = 0;
  double weight_bytes = 0;
  double merged_bytes = 0;  ///< that merged operators would read and write by themselves
  double merged = 0;        ///< operators; of the call: all pieces
  double costly = 0;        ///< of all of its operators, those of exponentials and roots
  double channels_in = 0;   ///< of one group
  double channels_out = 0;
  double positions = 0;  ///< of the output: its elements of one channel
  double window = 1;     ///< positions of the input under a kernel
  double stride = 1;
  double groups = 1;

  bool operator==(const Piece&) const = default;
};

inline constexpr std::array<std::string_view, 12> kPieceKinds = {
    "conv",    "depthwise", "transposed", "product", "plain_product", "recurrent",
    "pooling", "mapping",   "moving",     "reduced", "other",         "call"};

/// A number of a piece and the name of its column in tables.
struct PieceColumn {
  std::string_view name;
  double Piece::*value;
};
inline constexpr std::array kPieceColumns = {
    PieceColumn{"times", &Piece::times},
    PieceColumn{"macs", &Piece::macs},
    PieceColumn{"bytes_read", &Piece::bytes_read},
    PieceColumn{"bytes_written", &Piece::bytes_written},
    PieceColumn{"weight_bytes", &Piece::weight_bytes},
    PieceColumn{"merged_bytes", &Piece::merged_bytes},
    PieceColumn{"merged", &Piece::merged},
    PieceColumn{"costly", &Piece::costly},
    PieceColumn{"channels_in", &Piece::channels_in},
    PieceColumn{"channels_out", &Piece::channels_out},
    PieceColumn{"positions", &Piece::positions},
    PieceColumn{"window", &Piece::window},
    PieceColumn{"stride", &Piece::stride},
    PieceColumn{"groups", &Piece::groups},
};

/// A model in pieces, of which those that are alike are one. The last one is the call itself: what
/// an inference takes beside them. At most some hundred: the least dear of more are one.
struct Pieces {
  std::vector<Piece> list;
  /// Where an operator went, by its node's name and by those of what it writes.
  std::map<std::string, size_t, std::less<>> by_name;
  /// Names of loops and the like, which engines tell beside what runs in them.
  std::set<std::string> holders;
};
Pieces pieces(const Trace& trace);
Result<Pieces> pieces(const std::filesystem::path& file, const TraceOptions& options);

/// What an engine says an operator took, by the name that it has there.
struct OperatorTime {
  std::string name;
  double seconds = 0;
};
/// Seconds of each piece in one inference that took `seconds` as a whole. Engines name what they
/// merge by one of its operators, with more behind it; what they add has no name of ours, and
/// counts to what ran before. Empty when too little of what was told can be found in the model.
std::vector<double> piece_seconds(const Pieces& pieces, const std::vector<OperatorTime>& told,
                                  double seconds);

}  // namespace assay::model
