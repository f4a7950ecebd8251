// SPDX-License-Identifier: Apache-2.0
#include "dataset/s3_settings.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

#include <assay/base/files.h>
#include <assay/base/text.h>

namespace assay::launch {
namespace {

constexpr std::string_view kScheme = "s3://";

/// The first of the variables that is set and not empty.
std::string variable(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0') return value;
  return "";
}

std::filesystem::path credentials_file() {
  const std::string chosen = variable({"AWS_SHARED_CREDENTIALS_FILE"});
  if (!chosen.empty()) return chosen;
  return std::filesystem::path(variable({"HOME"})) / ".aws" / "credentials";
}

Result<std::optional<net::AwsSigning>> find_credentials() {
  const std::string key = variable({"AWS_ACCESS_KEY_ID"});
  const std::string secret = variable({"AWS_SECRET_ACCESS_KEY"});
  if (!key.empty() && !secret.empty())
    return std::optional(net::AwsSigning{"", key, secret, variable({"AWS_SESSION_TOKEN"})});
  const std::string profile = variable({"AWS_PROFILE"});
  const auto file = credentials_file();
  auto found = credentials_in(read_file(file, 1U << 20U).value_or(""),
                              profile.empty() ? "default" : profile);
  if (!found && !profile.empty()) {
    return bad_input(
        fmt::format("no credentials for the profile '{}' in {}; correct AWS_PROFILE "
                    "or the file",
                    profile, file.native()));
  }
  return found;
}

}  // namespace

Result<S3Address> parse_s3_address(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with(kScheme)) rest.remove_prefix(kScheme.size());
  const std::string bucket(next_field(rest, '/'));
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789.-_";
  if (bucket.size() < 3 || bucket.size() > 63 ||
      bucket.find_first_not_of(kAllowed) != std::string::npos || bucket.front() == '.') {
    return bad_input(fmt::format("'{}' names no bucket; write s3://bucket/prefix", text));
  }
  return S3Address{bucket, std::string(rest)};
}

std::optional<net::AwsSigning> credentials_in(std::string_view file, std::string_view profile) {
  net::AwsSigning found;
  bool in_profile = false;
  while (!file.empty()) {
    const std::string_view line = trim(next_field(file, '\n'));
    if (line.starts_with('[')) {
      in_profile = line.ends_with(']') && trim(line.substr(1, line.size() - 2)) == profile;
      continue;
    }
    std::string_view value = line;
    const std::string_view name = trim(next_field(value, '='));
    if (!in_profile || name.starts_with('#')) continue;
    if (name == "aws_access_key_id") found.access_key = trim(value);
    if (name == "aws_secret_access_key") found.secret_key = trim(value);
    if (name == "aws_session_token") found.session_token = trim(value);
  }
  if (found.access_key.empty() || found.secret_key.empty()) return std::nullopt;
  return found;
}

Result<S3Settings> s3_settings() {
  S3Settings settings;
  settings.region = variable({"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (settings.region.empty()) settings.region = "us-east-1";
  settings.endpoint = variable({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  if (settings.endpoint.empty())
    settings.endpoint = fmt::format("https://s3.{}.amazonaws.com", settings.region);
  while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
  ASSAY_TRY(settings.signing, find_credentials());
  if (settings.signing) settings.signing->region = settings.region;
  return settings;
}

}  // namespace assay::launch
