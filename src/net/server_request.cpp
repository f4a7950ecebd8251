// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <boost/asio/ip/address_v6.hpp>

#include <assay/base/text.h>
#include <assay/net/http_server.h>

namespace assay::net {

namespace asio = boost::asio;

ServerResponse refusal(int status, std::string_view sentence) {
  ServerResponse response;
  response.status = status;
  response.content_type = "application/json";
  response.body = "{\"error\": \"";
  for (const char c : sentence) {
    if (c == '"' || c == '\\') response.body += '\\';
    response.body += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  response.body += "\"}\n";
  return response;
}

std::string query_decoded(std::string_view text) {
  std::string plain_text;
  const auto digit = [&](size_t i) -> int {
    if (i >= text.size()) return -1;
    const char c = text[i];
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && digit(i + 1) >= 0 && digit(i + 2) >= 0) {
      plain_text += static_cast<char>(digit(i + 1) * 16 + digit(i + 2));
      i += 2;
    } else {
      plain_text += text[i] == '+' ? ' ' : text[i];
    }
  }
  return plain_text;
}

std::string ServerRequest::parameter(std::string_view name) const {
  std::string_view rest = query;
  while (!rest.empty()) {
    std::string_view value = next_field(rest, '&');
    if (query_decoded(next_field(value, '=')) == name) return query_decoded(value);
  }
  return "";
}

std::string caller_of(const std::string& address) {
  if (address.find(':') == address.npos) return address;
  boost::system::error_code error;
  const auto whole = asio::ip::make_address_v6(address, error);
  if (error) return address;
  if (whole.is_v4_mapped())
    return asio::ip::make_address_v4(asio::ip::v4_mapped, whole).to_string();
  auto bytes = whole.to_bytes();
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  return asio::ip::address_v6(bytes).to_string() + "/64";
}

}  // namespace assay::net
