// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include <assay/base/text.h>
#include <assay/base/wording.h>
#include <assay/cluster/trial_choices.h>

namespace assay::cluster {
namespace {

constexpr size_t kMostChoices = 200;
constexpr double kMostCount = 65'536;
constexpr size_t kLongestLabel = 63;

/// A value that a label may have.
bool is_label(std::string_view text) {
  const auto is_end = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return !text.empty() && text.size() <= kLongestLabel && is_end(text.front()) &&
         is_end(text.back()) && std::all_of(text.begin(), text.end(), [&](char c) {
           return is_end(c) || c == '-' || c == '_' || c == '.';
         });
}

Result<std::string> read_kind(std::string_view text) {
  text = trim(text);
  if (!text.empty() && !is_label(text))
    return bad_input(
        fmt::format("{} cannot be a kind of GPU: labels of nodes have letters, "
                    "digits, '-', '_' and '.'",
                    in_quotes(text)));
  return std::string(text);
}

/// Down to a thousandth, as Kubernetes counts.
Result<double> read_count(std::string_view text) {
  const auto count = parse_double(trim(text));
  if (!count || !(*count >= 0.001) || *count > kMostCount)
    return bad_input(fmt::format("{} is no number of GPUs; write e.g. Tesla-T4:1,2,4;A100:1",
                                 in_quotes(trim(text))));
  return std::round(*count * 1000) / 1000;
}

}  // namespace

std::string quantity_of(double count) {
  const double thousandths = std::round(count * 1000);
  if (std::fmod(thousandths, 1000) == 0) return fmt::format("{:.0f}", thousandths / 1000);
  return fmt::format("{:.0f}m", thousandths);
}

std::string name_of(const Choice& choice, std::string_view resource) {
  if (!choice.kind.empty()) return fmt::format("{} x {:g}", choice.kind, choice.count);
  if (resource.empty()) return fmt::format("{:g}", choice.count);
  const char* many = choice.count == 1 ? "" : "s";
  if (resource == "cpu") return fmt::format("{:g} CPU{}", choice.count, many);
  if (resource.ends_with("/gpu")) return fmt::format("{:g} GPU{}", choice.count, many);
  return fmt::format("{:g} {}", choice.count, resource);
}

Result<std::vector<Choice>> parse_gpu_choices(const std::string& text) {
  std::vector<Choice> choices;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view counts = next_field(rest, ';');
    if (trim(counts).empty()) continue;
    std::string kind;
    if (counts.find(':') != counts.npos) {
      ASSAY_TRY(kind, read_kind(next_field(counts, ':')));
    }
    do {
      ASSAY_TRY(const double count, read_count(next_field(counts, ',')));
      Choice choice{kind, count};
      if (std::find(choices.begin(), choices.end(), choice) != choices.end())
        return bad_input(fmt::format("{} is given twice", name_of(choice)));
      choices.push_back(std::move(choice));
    } while (!counts.empty());
    if (choices.size() > kMostChoices)
      return bad_input(fmt::format("these are more than {} choices", kMostChoices));
  }
  if (choices.empty())
    return bad_input("there is nothing to choose from; write e.g. Tesla-T4:1,2,4;A100:1");
  return choices;
}

Result<Prices> parse_prices(const std::string& text) {
  Prices prices;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view price = next_field(rest, ';');
    if (trim(price).empty()) continue;
    std::string kind;
    if (price.find('=') != price.npos) {
      ASSAY_TRY(kind, read_kind(next_field(price, '=')));
    }
    const auto amount = parse_double(trim(price));
    if (!amount || !(*amount > 0) || !std::isfinite(*amount))
      return bad_input(fmt::format("{} is no price of an hour; write e.g. Tesla-T4=0.35;A100=2.9",
                                   in_quotes(trim(price))));
    if (!prices.emplace(kind, *amount).second)
      return bad_input(fmt::format("the price of {} is given twice", in_quotes(kind)));
  }
  return prices;
}

double price_of(const Prices& prices, const Choice& choice) {
  auto found = prices.find(choice.kind);
  if (found == prices.end()) found = prices.find("");
  return found == prices.end() ? 0 : found->second * choice.count;
}

}  // namespace assay::cluster
