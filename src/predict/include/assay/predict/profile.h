// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/model/piece.h>

namespace assay::predict {

/// What the pieces of a model took in one inference on an idle device.
struct Profile {
  std::vector<model::Piece> pieces;
  std::vector<double> seconds;  ///< of each piece, all times that it ran

  bool operator==(const Profile&) const = default;
};

/// As one cell of a table: "conv 1 118013952 ... 0.0021;mapping ...". docs/collecting.md has it in
/// words.
std::string profile_text(const Profile& profile);
/// The reverse.
Result<Profile> parse_profile(std::string_view text);

}  // namespace assay::predict
