// SPDX-License-Identifier: Apache-2.0
#include "manifest_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/base/wording.h>
#include <assay/base/yaml.h>
#include <assay/kubeapi/quantity.h>

namespace assay::cluster {
namespace {

using Json = nlohmann::json;

/// Aliases can make a small file a huge object.
constexpr size_t kMostValues = 50'000;
constexpr int kDeepest = 64;

template <size_t N>
bool is_one_of(const std::string& text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

constexpr std::array<std::string_view, 9> kTrue = {"true", "True", "TRUE", "yes", "Yes",
                                                   "YES",  "on",   "On",   "ON"};
constexpr std::array<std::string_view, 9> kFalse = {"false", "False", "FALSE", "no", "No",
                                                    "NO",    "off",   "Off",   "OFF"};
constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};

/// As in file modes: 0644.
std::optional<int64_t> octal(const std::string& text) {
  if (text.size() < 2 || text.size() > 12 || text[0] != '0' ||
      text.find_first_not_of("01234567") != text.npos)
    return std::nullopt;
  return std::stoll(text, nullptr, 8);
}

/// What is not in quotes, as Kubernetes' own reader takes it.
Json plain(const std::string& text) {
  if (is_one_of(text, kNull)) return nullptr;
  if (is_one_of(text, kTrue)) return true;
  if (is_one_of(text, kFalse)) return false;
  if (const auto mode = octal(text)) return *mode;
  if (const auto number = parse_int(text)) return *number;
  const bool may_be_number = text.find_first_not_of("0123456789+-.eE") == text.npos;
  if (const auto number = may_be_number ? parse_double(text) : std::nullopt) return *number;
  return text;
}

class Converter {
 public:
  Result<Json> convert(const YAML::Node& node, int depth = 0) {
    if (++values_ > kMostValues || depth > kDeepest) return bad_input("is too large or too deep");
    if (node.IsMap()) return map(node, depth);
    if (node.IsSequence()) {
      Json list = Json::array();
      for (const auto& item : node) {
        ASSAY_TRY(Json value, convert(item, depth + 1));
        list.push_back(std::move(value));
      }
      return list;
    }
    if (!node.IsScalar()) return Json();
    const bool quoted = node.Tag() == "!" || node.Tag() == "tag:yaml.org,2002:str";
    return quoted ? Json(node.Scalar()) : plain(node.Scalar());
  }

 private:
  Result<Json> map(const YAML::Node& node, int depth) {
    Json object = Json::object();
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) return bad_input("has a key that is no text");
      ASSAY_TRY(object[entry.first.Scalar()], convert(entry.second, depth + 1));
    }
    return object;
  }

  size_t values_ = 0;
};

double amount_in(const Json& resources, const char* of, const std::string& resource) {
  const Json amounts = resources.is_object() ? resources.value(of, Json()) : Json();
  const Json amount = amounts.is_object() ? amounts.value(resource, Json()) : Json();
  if (amount.is_number()) return amount.get<double>();
  return amount.is_string() ? kubeapi::parse_quantity(amount.get<std::string>()).value_or(0) : 0;
}

/// Of containers that run at the same time.
double sum_of(const Json& containers, const std::string& resource) {
  double sum = 0;
  for (const auto& container : containers) {
    const Json resources = container.is_object() ? container.value("resources", Json()) : Json();
    const double requested = amount_in(resources, "requests", resource);
    sum += requested > 0 ? requested : amount_in(resources, "limits", resource);
  }
  return sum;
}

bool is_quantity(const Json& amount) {
  if (amount.is_null()) return true;
  if (amount.is_number()) return amount.get<double>() >= 0;
  const auto value =
      amount.is_string() ? kubeapi::parse_quantity(amount.get<std::string>()) : std::nullopt;
  return value && std::isfinite(*value) && *value >= 0;
}

Result<void> check_container(const Json& container) {
  const auto text = [&](const char* key) {
    const auto found = container.find(key);
    return found != container.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const std::string who = "container " + in_quotes(text("name"));
  if (text("image").empty()) return bad_input(who + " has no image");
  const Json resources = container.value("resources", Json());
  if (!resources.is_object()) return {};
  for (const char* of : {"limits", "requests"}) {
    const Json amounts = resources.value(of, Json());
    if (!amounts.is_object()) continue;
    for (const auto& [name, amount] : amounts.items())
      if (!is_quantity(amount))
        return bad_input(fmt::format(
            "{}: {} of {} cannot be {}, it takes a number as 2, 500m or 8Gi", who, of, name,
            in_quotes(amount.is_string() ? amount.get<std::string>() : amount.dump())));
  }
  return {};
}

}  // namespace

Result<void> check_containers(const Json& manifest) {
  if (manifest.is_object()) {
    for (const char* list : {"initContainers", "containers"}) {
      const Json containers = manifest.value(list, Json());
      if (!containers.is_array()) continue;
      for (const auto& container : containers)
        if (container.is_object()) ASSAY_CHECK(check_container(container));
    }
  }
  if (!manifest.is_structured()) return {};
  for (const auto& part : manifest) ASSAY_CHECK(check_containers(part));
  return {};
}

double most_requested(const Json& manifest, const std::string& resource) {
  double most = 0;
  if (!manifest.is_structured()) return most;
  if (manifest.is_object() && manifest.contains("containers"))
    most = sum_of(manifest["containers"], resource);
  for (const auto& part : manifest) most = std::max(most, most_requested(part, resource));
  return most;
}

Result<Json> manifest_json(const std::string& text, const std::string& file) {
  Problems problems(file);
  const auto root = load_map(
      text, {"a manifest", "write at least apiVersion, kind, metadata and spec", "kind: Job"},
      problems);
  if (!root) {
    const auto all = problems.take();
    return bad_input(all.empty() ? file + ": cannot be read" : all.front().text());
  }
  auto json = Converter().convert(*root);
  if (!json) return bad_input(fmt::format("{}: {}", file, json.error().message));
  return json;
}

}  // namespace assay::cluster
