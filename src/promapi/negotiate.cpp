// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <string>

#include <assay/base/text.h>
#include <assay/promapi/exposition.h>

namespace assay::promapi {
namespace {

constexpr std::string_view kClassicType = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kOpenMetricsType =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// One entry of an Accept header: "text/plain;version=0.0.4;q=0.5".
struct Wish {
  std::string_view what;
  std::string_view version;
  double weight = 1;
};

bool same(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

/// A weight that makes no sense is none: better the plain answer than one that was not wanted.
double weight_of(std::string_view text) {
  const auto weight = parse_double(text);
  return weight && *weight >= 0 && *weight <= 1 ? *weight : 0;
}

Wish wish_of(std::string_view entry) {
  Wish wish;
  wish.what = trim(next_field(entry, ';'));
  while (!entry.empty()) {
    std::string_view value = next_field(entry, ';');
    const std::string_view name = trim(next_field(value, '='));
    if (same(name, "q")) wish.weight = weight_of(trim(value));
    if (same(name, "version")) wish.version = trim(value);
  }
  return wish;
}

template <class Matches>
double best_weight(std::string_view header, Matches matches) {
  double best = 0;
  while (!header.empty()) {
    const Wish wish = wish_of(next_field(header, ','));
    if (matches(wish)) best = std::max(best, wish.weight);
  }
  return best;
}

bool is_openmetrics(const Wish& wish) {
  return same(wish.what, "application/openmetrics-text") &&
         (wish.version.empty() || wish.version == "1.0.0");
}

bool is_classic(const Wish& wish) {
  return same(wish.what, "text/plain") && (wish.version.empty() || wish.version == "0.0.4");
}

/// The weight of what names gzip, else of what stands for all.
bool takes_gzip(std::string_view header) {
  bool all = false;
  while (!header.empty()) {
    const Wish wish = wish_of(next_field(header, ','));
    if (same(wish.what, "gzip") || same(wish.what, "x-gzip")) return wish.weight > 0;
    if (wish.what == "*") all = wish.weight > 0;
  }
  return all;
}

}  // namespace

Negotiated negotiate(std::string_view accept, std::string_view accept_encoding) {
  const double openmetrics = best_weight(accept, is_openmetrics);
  const bool chosen = openmetrics > 0 && openmetrics >= best_weight(accept, is_classic);
  return {chosen ? TextFormat::openmetrics : TextFormat::classic,
          chosen ? kOpenMetricsType : kClassicType, takes_gzip(accept_encoding)};
}

}  // namespace assay::promapi
