// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>
#include <string>

#include <assay/base/result.h>

namespace assay::net {

/// What is known about a transfer that libcurl gave up.
struct Trouble {
  CURLcode code = CURLE_OK;
  std::string detail;  ///< libcurl's own words; may be empty
  int os_error = 0;
  std::string where;              ///< as it may be shown
  bool with_certificate = false;  ///< of the client
};

/// In one sentence, with what to do.
Error explain(const Trouble& trouble);

}  // namespace assay::net
