// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/predict/profile.h>

namespace assay::predict {
namespace {

constexpr size_t kMostPieces = 2000;

Result<double> number_of(std::string_view word) {
  const auto value = parse_double(word);
  if (!value || !std::isfinite(*value) || *value < 0)
    return bad_input(fmt::format("\"{}\" is no number of at least 0", word));
  return *value;
}

}  // namespace

std::string profile_text(const Profile& profile) {
  std::string text;
  for (size_t i = 0; i < profile.pieces.size(); ++i) {
    const model::Piece& piece = profile.pieces[i];
    if (!text.empty()) text += ';';
    text += piece.kind;
    for (const auto& column : model::kPieceColumns) text += fmt::format(" {}", piece.*column.value);
    text += fmt::format(" {:.4g}", profile.seconds[i]);
  }
  return text;
}

Result<Profile> parse_profile(std::string_view text) {
  Profile profile;
  while (!text.empty()) {
    std::string_view words = next_field(text, ';');
    model::Piece piece;
    piece.kind = next_field(words, ' ');
    const auto& kinds = model::kPieceKinds;
    if (std::find(kinds.begin(), kinds.end(), piece.kind) == kinds.end())
      return bad_input(fmt::format("\"{}\" is no kind of piece", piece.kind.substr(0, 40)));
    for (const auto& column : model::kPieceColumns) {
      ASSAY_TRY(piece.*column.value, number_of(next_field(words, ' ')));
    }
    ASSAY_TRY(const double seconds, number_of(words));
    if (!(piece.times > 0)) return bad_input("a piece never runs");
    profile.pieces.push_back(std::move(piece));
    profile.seconds.push_back(seconds);
    if (profile.pieces.size() > kMostPieces) return bad_input("there are too many pieces");
  }
  if (profile.pieces.empty()) return bad_input("there are no pieces");
  return profile;
}

}  // namespace assay::predict
