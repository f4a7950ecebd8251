// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>

namespace assay::cluster {

/// So many GPUs of a kind: what a trial tries.
struct Choice {
  std::string kind =
      {};            ///< as nodes name it in a label: "Tesla-T4"; empty: wherever there is room
  double count = 1;  ///< parts of one only where the resource can be divided, as CPUs

  auto operator<=>(const Choice&) const = default;
};

/// "Tesla-T4 x 2"; where the kind does not matter "2 GPUs", "1 CPU", or "2" of an unknown resource.
std::string name_of(const Choice& choice, std::string_view resource = {});
/// As Kubernetes writes an amount: "2", "500m".
std::string quantity_of(double count);

/// "Tesla-T4:1,2,4;A100:1"; "1,2,4" when there is only one kind. In the order given.
Result<std::vector<Choice>> parse_gpu_choices(const std::string& text);

/// What one GPU of each kind costs in an hour.
using Prices = std::map<std::string, double>;
/// "Tesla-T4=0.35;A100=2.9"; "0.04" is the price of whatever kind has no other.
Result<Prices> parse_prices(const std::string& text);
/// 0: it is not known.
double price_of(const Prices& prices, const Choice& choice);

}  // namespace assay::cluster
