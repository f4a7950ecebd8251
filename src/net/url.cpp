// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <fmt/format.h>

#include <assay/net/http_client.h>

namespace assay::net {
namespace {

/// "user:password@host:port" of an address.
std::string_view authority_of(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == url.npos) return {};
  url.remove_prefix(scheme + 3);
  return url.substr(0, url.find_first_of("/?#"));
}

std::string_view host_of(std::string_view url) {
  std::string_view host = authority_of(url);
  host.remove_prefix(host.rfind('@') + 1);
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool is_ipv4_number(std::string_view host) {
  return host.find_first_not_of("0123456789.") == host.npos;
}

}  // namespace

std::string url_encoded(std::string_view text, std::string_view keep) {
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 ||
                                       std::string_view("-._~").find(c) != std::string_view::npos);
    if (plain || keep.find(c) != keep.npos) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", byte);
    }
  }
  return encoded;
}

std::string shown_url(std::string_view url) {
  url = url.substr(0, url.find_first_of("?#"));
  const std::string_view authority = authority_of(url);
  const size_t user = authority.rfind('@');
  if (user == authority.npos) return std::string(url);
  const size_t begin = static_cast<size_t>(authority.data() - url.data());
  return fmt::format("{}{}", url.substr(0, begin), url.substr(begin + user + 1));
}

bool is_loopback_url(std::string_view url) {
  const std::string_view host = host_of(url);
  return host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") && is_ipv4_number(host));
}

}  // namespace assay::net
