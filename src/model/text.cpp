// SPDX-License-Identifier: Apache-2.0
#include "words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <assay/base/text.h>
#include <assay/base/wording.h>
#include <assay/model/inspect.h>

namespace assay::model {
namespace {

constexpr size_t kRows = 12;

/// Millions of parameters and MACs for one picture, as their authors or common tools give them.
struct Famous {
  std::string_view name;
  double parameters;
  double macs;
};

constexpr std::array<Famous, 26> kFamous = {{
    {"AlexNet", 61.0, 655},
    {"AlexNet", 61.1, 714},
    {"BERT-base", 109.5, 11174},
    {"DenseNet-121", 7.98, 2834},
    {"DenseNet-169", 14.15, 3360},
    {"DenseNet-201", 20.01, 4291},
    {"EfficientNet-B0", 5.29, 386},
    {"GoogLeNet", 6.62, 1498},
    {"Inception v3", 23.83, 5713},
    {"MobileNet v1", 4.23, 569},
    {"MobileNet v2", 3.50, 301},
    {"MobileNet v3 small", 2.54, 56.5},
    {"MobileNet v3 large", 5.48, 217},
    {"ResNet-18", 11.69, 1814},
    {"ResNet-34", 21.8, 3664},
    {"ResNet-50", 25.56, 4089},
    {"ResNet-101", 44.55, 7801},
    {"ResNet-152", 60.19, 11514},
    {"ShuffleNet v2", 2.28, 145},
    {"SqueezeNet 1.0", 1.248, 819},
    {"SqueezeNet 1.1", 1.235, 349},
    {"ViT-B/16", 86.57, 17564},
    {"VGG-11", 132.9, 7609},
    {"VGG-13", 133.0, 11308},
    {"VGG-16", 138.4, 15470},
    {"VGG-19", 143.7, 19630},
}};

bool is_near(double value, double other, double share) {
  return std::fabs(value - other) <= share * other;
}

std::string likeness(const Inspection& inspection) {
  for (const auto& famous : kFamous) {
    if (is_near(inspection.counts.trainable_parameters / 1e6, famous.parameters, 0.02) &&
        is_near(inspection.total.macs / 1e6, famous.macs, 0.03))
      return fmt::format("{}-like", famous.name);
  }
  return std::filesystem::path(inspection.file).stem().native();
}

std::string ends_text(std::string_view what, const std::vector<Value>& values) {
  std::vector<std::string> parts;
  for (const auto& value : values) {
    if (parts.size() == 4) {
      parts.push_back(fmt::format("and {} more", values.size() - 4));
      break;
    }
    parts.push_back(fmt::format("{} {} {}", shortened(value.name, 40), shape_text(value.known),
                                type_name(value.known.type)));
  }
  return fmt::format("  {:<9}{}\n", what,
                     parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", ")));
}

/// What an operator is dear by: its operations, and where it has none, the bytes it moves.
bool dearer(const OperatorCost* a, const OperatorCost* b) {
  if (a->cost.flops != b->cost.flops) return a->cost.flops > b->cost.flops;
  return a->cost.bytes_read + a->cost.bytes_written > b->cost.bytes_read + b->cost.bytes_written;
}

std::string table(const Inspection& inspection, bool color, size_t columns) {
  std::vector<const OperatorCost*> order;
  order.reserve(inspection.operators.size());
  for (const auto& one : inspection.operators) order.push_back(&one);
  const size_t rows = std::min(kRows, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(rows), order.end(),
                    dearer);
  if (rows == 0) return "";
  const size_t width = std::clamp<size_t>(columns < 76 ? 12 : columns - 64, 12, 40);
  std::string text = fmt::format("\n{}{:<{}}  {:<18} {:>10} {:>6} {:>10} {:>10}{}\n",
                                 color ? "\033[1m" : "", "dearest operators", width, "type", "MACs",
                                 "share", "parameters", "moves", color ? "\033[0m" : "");
  for (size_t i = 0; i < rows; ++i) {
    const Cost& cost = order[i]->cost;
    const double share = inspection.total.flops > 0 ? 100 * cost.flops / inspection.total.flops : 0;
    text += fmt::format("{:<{}}  {:<18} {:>10} {:>5.1f}% {:>10} {:>10}\n",
                        shortened(order[i]->name, width), width, shortened(order[i]->type, 18),
                        cost.macs > 0 ? brief(cost.macs) : "-", share,
                        cost.parameters > 0 ? brief(cost.parameters) : "-",
                        format_bytes(cost.bytes_read + cost.bytes_written));
  }
  if (order.size() > rows)
    text += fmt::format("and {} more (--json has all)\n", order.size() - rows);
  return text;
}

void add_list(std::string& text, std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  text += fmt::format("\n{}\n", title);
  for (const auto& line : lines) text += fmt::format("  {}\n", line);
}

std::string joined(const std::set<std::string>& names) {
  std::vector<std::string> parts;
  for (const auto& name : names) {
    parts.push_back(parts.size() < 8 ? shortened(name, 40) : "...");
    if (parts.size() > 8) break;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> assumed(const Inspection& inspection) {
  std::vector<std::string> lines;
  if (!inspection.unbound_dims.empty())
    lines.push_back(
        fmt::format("1 for {}; say otherwise with --dim NAME=N", joined(inspection.unbound_dims)));
  lines.insert(lines.end(), inspection.assumptions.begin(), inspection.assumptions.end());
  if (!inspection.external_files.empty())
    lines.push_back(
        fmt::format("weights in {} are described, not read", joined(inspection.external_files)));
  if (lines.size() > 10) {
    const size_t more = lines.size() - 10;
    lines.resize(10);
    lines.push_back(fmt::format("and {} more (--json has all)", more));
  }
  return lines;
}

std::vector<std::string> unknown(const Inspection& inspection) {
  std::vector<std::string> lines;
  for (const auto& [name, count] : inspection.unknown_operators)
    lines.push_back(
        fmt::format("operator {} ({} times): its work is not counted", in_quotes(name), count));
  const auto& shapes = inspection.unknown_shapes;
  if (!shapes.empty())
    lines.push_back(
        fmt::format("sizes of {} operators, such as {}: they depend on data and count as 1",
                    shapes.size(), in_quotes(shapes.front())));
  return lines;
}

}  // namespace

std::string inspection_text(const Inspection& inspection, bool color, size_t columns) {
  const Counts& counts = inspection.counts;
  std::string text =
      fmt::format("{}{}: {} parameters, {}, {}; needs {} of activations{}\n",
                  color ? "\033[1m" : "", likeness(inspection), brief(counts.total_parameters),
                  brief(inspection.total.macs, "MAC"), format_bytes(inspection.weight_bytes),
                  format_bytes(inspection.peak_activation_bytes), color ? "\033[0m" : "");
  text += ends_text("takes", inspection.inputs) + ends_text("gives", inspection.outputs);
  text += fmt::format("  {:<9}{} conv, {} pool, {} fully connected; {} operators of {} types\n",
                      "layers", counts.conv_layers, counts.pool_layers, counts.fc_layers,
                      inspection.operators.size(), inspection.operator_types.size());
  text += table(inspection, color, columns);
  add_list(text, "assumed", assumed(inspection));
  add_list(text, "unknown", unknown(inspection));
  return text;
}

}  // namespace assay::model
