// SPDX-License-Identifier: Apache-2.0
#include "authorization.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

#include <assay/base/files.h>
#include <assay/base/text.h>

namespace assay::promapi {
namespace {

constexpr size_t kLargest = 64U << 10U;

/// The only line of a file, which must not bring further header lines with it.
Result<std::string> secret_of(const std::filesystem::path& file) {
  ASSAY_TRY(const std::string text, read_file(file, kLargest));
  std::string secret(trim(text));
  const bool broken = std::any_of(secret.begin(), secret.end(),
                                  [](unsigned char c) { return c < ' ' || c == 0x7F; });
  if (secret.empty() || broken)
    return bad_input(fmt::format("{} has to have one line and no more", file.native()));
  return secret;
}

}  // namespace

Result<std::string> authorization(const std::filesystem::path& bearer_token_file,
                                  const std::filesystem::path& basic_auth_file) {
  if (!bearer_token_file.empty()) {
    ASSAY_TRY(const std::string token, secret_of(bearer_token_file));
    return "Authorization: Bearer " + token;
  }
  if (basic_auth_file.empty()) return std::string();
  ASSAY_TRY(const std::string user, secret_of(basic_auth_file));
  if (user.find(':') == user.npos)
    return bad_input(fmt::format("{} has to have user:password", basic_auth_file.native()));
  return "Authorization: Basic " + base64_encoded(user);
}

}  // namespace assay::promapi
