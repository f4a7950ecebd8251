// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/net/http_client.h>

namespace assay::launch {

/// s3://bucket/prefix.
struct S3Address {
  std::string bucket;
  std::string prefix;
};
Result<S3Address> parse_s3_address(std::string_view text);

/// Which object store, and who asks; nobody in particular without credentials.
struct S3Settings {
  std::string endpoint;
  std::string region;
  std::optional<net::AwsSigning> signing;
};

/// From the variables that AWS's own tools read (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION,
/// AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN), else from the
/// profile AWS_PROFILE of AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials.
Result<S3Settings> s3_settings();

/// One profile of a credentials file; nothing when it has no such profile or no whole key there.
std::optional<net::AwsSigning> credentials_in(std::string_view file, std::string_view profile);

}  // namespace assay::launch
