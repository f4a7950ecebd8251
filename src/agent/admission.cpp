// SPDX-License-Identifier: Apache-2.0
#include "admission.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

namespace assay::agent {
namespace {

/// "[::1]:9410" is "::1".
std::string_view without_port(std::string_view address) {
  if (address.starts_with('[')) return address.substr(1, address.find(']') - 1);
  return address.substr(0, address.rfind(':'));
}

bool is_same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](unsigned char x, unsigned char y) {
           return std::tolower(x) == std::tolower(y);
         });
}

/// 127.0.0.0/8, in the four parts that browsers make of it.
bool is_loopback(std::string_view host) {
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos;
}

/// Whether "Host" names us. A page whose own name leads here names itself instead.
bool is_ours(std::string_view host, const Door& door) {
  if (host.empty()) return true;  // browsers always send one
  host = without_port(host);
  if (host == "::1" || is_loopback(host)) return true;
  const std::array names = {std::string_view("localhost"), door.hostname,
                            without_port(door.listen)};
  return !host.empty() && std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return is_same_name(host, name);
  });
}

/// "http://127.0.0.1:9410" is a page of ours when asked at 127.0.0.1:9410.
bool is_own_page(std::string_view page, std::string_view host) {
  const size_t slashes = page.find("://");
  return page.empty() || (slashes != page.npos && page.substr(slashes + 3) == host);
}

Admission admit_token(std::string_view authorization, Role role, const Door& door) {
  constexpr std::string_view kBearer = "Bearer ";
  const Token* const token = is_same_name(authorization.substr(0, kBearer.size()), kBearer)
                                 ? door.tokens.find(authorization.substr(kBearer.size()))
                                 : nullptr;
  if (token == nullptr) return {401, "this token is not known here"};
  if (token->may(role)) return {200, "", fmt::format("{} ({})", token->name, to_string(role))};
  return {403, fmt::format("this token lacks the role {}", to_string(role))};
}

Admission admit_local(const net::ServerRequest& request, Role role, const Door& door) {
  if (request.origin == net::Origin::loopback &&
      (!is_ours(request.host, door) || !is_own_page(request.page, request.host)))
    return {403, "web pages of others may not ask here"};
  if (role == Role::read) return {200, "", "this machine"};
  if (request.user && (*request.user == 0 || *request.user == door.user))
    return {200, "", fmt::format("user {}", *request.user)};
  return {401, fmt::format("this takes a token with the role {}", to_string(role))};
}

}  // namespace

Admission admit(const net::ServerRequest& request, Role role, const Door& door) {
  const bool is_open = role == Role::read && request.origin != net::Origin::network;
  if (!request.authorization.empty()) {
    auto admission = admit_token(request.authorization, role, door);
    if (admission.status == 200 || !is_open) return admission;
  }
  if (request.origin == net::Origin::network)
    return {401, fmt::format("this takes a token with the role {}", to_string(role))};
  return admit_local(request, role, door);
}

}  // namespace assay::agent
