// SPDX-License-Identifier: Apache-2.0
#include "process/owner.h"

#include <cctype>
#include <fmt/format.h>

namespace assay::launch {
namespace {

constexpr std::string_view kGroupPrefix = "assay-";

}  // namespace

std::string group_name(std::string_view session_id, int run, const Owner& owner) {
  std::string session(session_id);
  for (char& c : session) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
  }
  return fmt::format("{}{}-{}.{}", kGroupPrefix, session, run, owner.text());
}

std::optional<Owner> group_owner(std::string_view name) {
  const size_t dot = name.find('.');
  if (!name.starts_with(kGroupPrefix) || dot == std::string_view::npos) return std::nullopt;
  return Owner::parse(name.substr(dot + 1));
}

}  // namespace assay::launch
