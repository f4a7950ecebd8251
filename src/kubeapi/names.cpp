// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include <assay/base/wording.h>
#include <assay/kubeapi/names.h>

namespace assay::kubeapi {
namespace {

constexpr size_t kLongestName = 253, kLongestLabel = 63;

std::string wrong(const std::string& name, size_t longest, bool pointed) {
  const auto ends = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const auto inside = [&](char c) { return ends(c) || c == '-' || (pointed && c == '.'); };
  if (name.size() > longest)
    return fmt::format("{} is no name: it is longer than {} letters",
                       in_quotes(name.substr(0, kLongestLabel) + "..."), longest);
  if (!name.empty() && ends(name.front()) && ends(name.back()) &&
      std::all_of(name.begin(), name.end(), inside))
    return "";
  return fmt::format("{} is no name{}: it has a to z, 0 to 9{}, and no mark at its ends",
                     in_quotes(name), pointed ? "" : " of a namespace",
                     pointed ? ", '-' and '.'" : " and '-'");
}

}  // namespace

std::string wrong_name(const std::string& name) {
  return wrong(name, kLongestName, true);
}

std::string wrong_namespace(const std::string& name) {
  return wrong(name, kLongestLabel, false);
}

std::string wrong_key(const std::string& key) {
  const auto slash = key.find('/');
  const std::string name = slash == key.npos ? key : key.substr(slash + 1);
  const auto ends = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const bool good = !name.empty() && name.size() <= kLongestLabel && ends(name.front()) &&
                    ends(name.back()) && std::all_of(name.begin(), name.end(), [&](char c) {
                      return ends(c) || c == '-' || c == '_' || c == '.';
                    });
  if (good && (slash == key.npos || wrong_name(key.substr(0, slash)).empty())) return "";
  return fmt::format("{} is no key: it is a name as 'gpu', or behind a domain as 'nvidia.com/gpu'",
                     in_quotes(key));
}

}  // namespace assay::kubeapi
