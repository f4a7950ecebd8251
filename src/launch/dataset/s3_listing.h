// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>

namespace assay::launch {

struct S3Object {
  std::string key;
  uint64_t size = 0;
  std::string tag;  ///< with its quotes
};

/// One answer to ListObjectsV2.
struct S3Page {
  std::vector<S3Object> objects;
  std::string next;  ///< the token that asks for the next page; empty: it was the last
};

/// Reads the XML of an answer. It comes from somebody else: what is no listing is an error.
Result<S3Page> parse_s3_page(std::string_view xml);
/// "NoSuchBucket" of an error's XML; empty when it has no plain word there.
std::string s3_error_code(std::string_view xml);

}  // namespace assay::launch
