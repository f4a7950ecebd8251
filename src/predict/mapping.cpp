// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <utility>

#include <assay/base/text.h>
#include <assay/base/yaml.h>
#include <assay/predict/mapping.h>

namespace assay::predict {
namespace {

constexpr YamlUse kMapping = {.what = "a mapping",
                              .least = "write at least time, task, model and features",
                              .example = "model: name"};
constexpr size_t kMostFeatures = 1000;
constexpr std::array<std::pair<std::string_view, Transform>, 4> kTransforms = {{
    {"log", Transform::log},
    {"log1p", Transform::log1p},
    {"share", Transform::share},
    {"root_share", Transform::root_share},
}};
constexpr std::array<std::pair<std::string_view, TimeUnit>, 4> kUnits = {{
    {"s", TimeUnit::seconds},
    {"ms", TimeUnit::milliseconds},
    {"us", TimeUnit::microseconds},
    {"HH:MM:SS", TimeUnit::clock},
}};

Result<Sum> parse_sum(std::string_view text) {
  Sum sum;
  double sign = 1;
  for (;;) {
    const size_t end = std::min(text.find_first_of("+-"), text.size());
    const auto column = trim(text.substr(0, end));
    if (column.empty()) return bad_input("a column's name is missing");
    sum.push_back({std::string(column), sign});
    if (end == text.size()) return sum;
    sign = text[end] == '+' ? 1 : -1;
    text.remove_prefix(end + 1);
  }
}

/// What stands behind the comma: a scale for log1p, the whole for a share.
Result<void> parse_second(std::string_view text, Feature& feature) {
  const bool is_share =
      feature.transform == Transform::share || feature.transform == Transform::root_share;
  if (is_share) {
    ASSAY_TRY(feature.whole, parse_sum(text));
    return {};
  }
  const auto scale = parse_double(trim(text));
  if (feature.transform != Transform::log1p || !scale || !(*scale > 0))
    return bad_input(
        fmt::format("\"{}\" has one part too many, or a scale that is none", feature.text));
  feature.scale = *scale;
  return {};
}

class Reader {
 public:
  Reader(const std::string& name, Mapping& mapping) : problems_(name), mapping_(mapping) {}

  Result<void> read(const std::string& text) {
    if (const auto root = load_map(text, kMapping, problems_))
      for (const auto& field : fields_of(*root, problems_)) read_field(field);
    if (problems_.empty()) check_needed();
    const auto wrong = problems_.take();
    if (!wrong.empty()) return bad_input(wrong.front().text());
    return {};
  }

 private:
  using Read = void (Reader::*)(const Field&);
  static constexpr std::array<std::string_view, 12> kKeys = {
      "time",       "task", "device",  "model",    "kind",  "only",
      "least_rows", "join", "columns", "features", "costs", "namesakes"};

  void read_field(const Field& field) {
    static const std::map<std::string, Read, std::less<>> kReaders = {
        {"time", &Reader::read_time},        {"task", &Reader::read_task},
        {"device", &Reader::read_device},    {"model", &Reader::read_model},
        {"kind", &Reader::read_kind},        {"only", &Reader::read_only},
        {"least_rows", &Reader::read_least}, {"join", &Reader::read_join},
        {"columns", &Reader::read_columns},  {"features", &Reader::read_features},
        {"costs", &Reader::read_costs},      {"namesakes", &Reader::read_namesakes}};
    const auto found = kReaders.find(field.key);
    if (found == kReaders.end()) return unknown_key(field, kKeys, problems_);
    (this->*found->second)(field);
  }

  /// The texts behind the keys of a map; a problem for what is no map and for keys that are not
  /// `known`, unless every key is.
  std::map<std::string, std::string> texts_of(const Field& field, std::string_view example,
                                              std::span<const std::string_view> known) {
    std::map<std::string, std::string> texts;
    if (!field.value.IsMap()) {
      wrong_type(field, "a map", example, problems_);
      return texts;
    }
    for (const auto& inner : fields_of(field.value, problems_)) {
      if (!known.empty() && std::find(known.begin(), known.end(), inner.key) == known.end())
        unknown_key(inner, known, problems_);
      else if (auto text = read_text(inner, problems_))
        texts[inner.key] = std::move(*text);
    }
    return texts;
  }
  std::vector<std::string> list_of(const Field& field) {
    std::vector<std::string> list;
    for (const auto& item : items_of(field))
      if (auto text = read_text(item, problems_)) list.push_back(std::move(*text));
    return list;
  }

  void read_time(const Field& field) {
    static constexpr std::array<std::string_view, 2> kKnown = {"column", "unit"};
    auto texts = texts_of(field, "time: {column: latency, unit: ms}", kKnown);
    mapping_.time_column = texts["column"];
    const auto* const unit = std::find_if(
        kUnits.begin(), kUnits.end(), [&](const auto& one) { return one.first == texts["unit"]; });
    if (unit == kUnits.end())
      problems_.add(field.line, "time: unit is one of s, ms, us and HH:MM:SS");
    else
      mapping_.unit = unit->second;
  }
  void read_task(const Field& field) { mapping_.task = list_of(field); }
  void read_device(const Field& field) { mapping_.device = list_of(field); }
  void read_model(const Field& field) { mapping_.model = read_text(field, problems_).value_or(""); }
  void read_kind(const Field& field) { mapping_.kind = read_text(field, problems_).value_or(""); }
  void read_only(const Field& field) {
    mapping_.only = texts_of(field, "only: {framework: tflite}", {});
  }
  void read_least(const Field& field) {
    const auto text = read_text(field, problems_);
    if (!text) return;
    const auto count = parse_uint(*text);
    if (!count) return wrong_type(field, "a number", "least_rows: 20", problems_);
    mapping_.least_rows = *count;
  }
  void read_join(const Field& field) {
    static constexpr std::array<std::string_view, 2> kKnown = {"file", "on"};
    auto texts = texts_of(field, "join: {file: models.csv, on: model}", kKnown);
    mapping_.join_file = texts["file"];
    mapping_.join_on = texts["on"];
    if (mapping_.join_file.empty() || mapping_.join_on.empty())
      problems_.add(field.line, "join needs a file and the column \"on\" which both have");
  }
  void read_columns(const Field& field) {
    mapping_.columns = texts_of(field, "columns: {macs_conv1x1: macs_pw}", {});
  }
  void read_features(const Field& field) { read_formulas(field, mapping_.features); }
  void read_costs(const Field& field) {
    read_formulas(field, mapping_.costs);
    for (const auto& cost : mapping_.costs)
      if (cost.transform != Transform::as_is)
        problems_.add(field.line,
                      fmt::format("costs: \"{}\" is no plain sum of columns", cost.text));
  }
  void read_formulas(const Field& field, std::vector<Feature>& into) {
    for (const auto& item : items_of(field)) {
      const auto text = read_text(item, problems_);
      if (!text) continue;
      if (auto feature = keep(parse_feature(*text), item, problems_))
        into.push_back(std::move(*feature));
    }
    if (into.size() > kMostFeatures) problems_.add(field.line, field.key + ": more than 1000");
  }
  void read_namesakes(const Field& field) {
    for (const auto& item : items_of(field)) mapping_.namesakes.push_back(list_of(item));
  }

  void check_needed() {
    const std::array<std::pair<bool, const char*>, 4> needs = {
        {{mapping_.time_column.empty(), "time: {column: latency, unit: ms}"},
         {mapping_.task.empty(), "task: [device, precision]"},
         {mapping_.model.empty(), "model: name"},
         {mapping_.features.empty() && mapping_.columns.empty(), "features: [log(macs)]"}}};
    for (const auto& [missing, example] : needs)
      if (missing) problems_.add(0, fmt::format("add \"{}\"", example));
  }

  Problems problems_;
  Mapping& mapping_;
};

}  // namespace

Result<Feature> parse_feature(const std::string& text) {
  Feature feature;
  feature.text = text;
  std::string_view rest = trim(text);
  if (const size_t open = rest.find('('); open != std::string_view::npos) {
    const auto name = trim(rest.substr(0, open));
    const auto* const found = std::find_if(kTransforms.begin(), kTransforms.end(),
                                           [&](const auto& one) { return one.first == name; });
    if (found == kTransforms.end() || rest.back() != ')')
      return bad_input(
          fmt::format("\"{}\" is none of log(…), log1p(…), share(…, …), root_share(…, …)", text));
    feature.transform = found->second;
    rest = rest.substr(open + 1, rest.size() - open - 2);
  }
  const size_t comma = rest.find(',');
  if (comma != std::string_view::npos) {
    ASSAY_CHECK(parse_second(rest.substr(comma + 1), feature));
  } else if (feature.transform == Transform::share || feature.transform == Transform::root_share) {
    return bad_input(fmt::format("\"{}\" needs the whole of which it is a share", text));
  }
  ASSAY_TRY(feature.sum, parse_sum(rest.substr(0, comma)));
  return feature;
}

Result<Mapping> read_mapping(const std::string& name, const std::string& text) {
  Mapping mapping;
  ASSAY_CHECK(Reader(name, mapping).read(text));
  return mapping;
}

}  // namespace assay::predict
