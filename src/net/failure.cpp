// SPDX-License-Identifier: Apache-2.0
#include "failure.h"

#include "curl.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fmt/format.h>

namespace assay::net {
namespace {

struct Explanation {
  CURLcode code;
  std::string_view what;
  std::string_view to_do;
  bool temporary;
};

constexpr std::array kExplanations = {
    Explanation{CURLE_COULDNT_RESOLVE_HOST, "cannot find the host of",
                "check the name and this machine's network", true},
    Explanation{CURLE_COULDNT_RESOLVE_PROXY, "cannot find the proxy on the way to",
                "check the variables http_proxy and https_proxy", false},
    Explanation{CURLE_COULDNT_CONNECT, "cannot connect to", "check that it runs and listens there",
                true},
    Explanation{CURLE_OPERATION_TIMEDOUT, "no whole answer in time from",
                "check that it is not overloaded, and try again", true},
    Explanation{CURLE_PEER_FAILED_VERIFICATION, "cannot trust",
                "check the address and the authority's certificate", false},
    Explanation{CURLE_SSL_CACERT_BADFILE, "cannot read the authority's certificate for",
                "check the file", false},
    Explanation{CURLE_SSL_CERTPROBLEM, "cannot use the client's certificate for",
                "check the certificate and its key", false},
    Explanation{CURLE_SSL_CONNECT_ERROR, "no secure connection to",
                "check that it speaks TLS and accepts the client's certificate", false},
    Explanation{CURLE_TOO_MANY_REDIRECTS, "redirected too often by", "use the final address",
                false},
    Explanation{CURLE_UNSUPPORTED_PROTOCOL,
                "not an address or redirect that may be followed:", "use https", false},
    Explanation{CURLE_URL_MALFORMAT, "not a valid address:", "correct it", false},
    Explanation{CURLE_GOT_NOTHING, "no answer from", "try again", true},
    Explanation{CURLE_PARTIAL_FILE, "the answer broke off at", "try again", true},
    Explanation{CURLE_RECV_ERROR, "the connection broke off at", "try again", true},
    Explanation{CURLE_SEND_ERROR, "the connection broke off at", "try again", true},
};

constexpr Explanation kOther{CURLE_OK, "failed at", "check the address", false};

/// The same trouble is told by the same words, however long it took.
std::string without_time(std::string detail) {
  const auto from = detail.find(" after "), to = detail.find(" ms", from);
  if (from != detail.npos && to != detail.npos) detail.erase(from, to + 3 - from);
  return detail;
}

}  // namespace

Error explain(const Trouble& trouble) {
  const auto* const known =
      std::find_if(kExplanations.begin(), kExplanations.end(),
                   [&](const Explanation& e) { return e.code == trouble.code; });
  const Explanation& found = known != kExplanations.end() ? *known : kOther;
  const std::string detail =
      trouble.detail.empty() ? curl().easy_strerror(trouble.code) : without_time(trouble.detail);
  // With TLS 1.3 a server refuses the client's certificate when the handshake is over already.
  const bool may_be_refused = trouble.with_certificate &&
                              (found.code == CURLE_RECV_ERROR || found.code == CURLE_SEND_ERROR ||
                               found.code == CURLE_GOT_NOTHING);
  const std::string_view to_do =
      may_be_refused ? "check that it accepts the client's certificate, or try again" : found.to_do;
  const bool will_stay = trouble.os_error == EACCES || trouble.os_error == ENOENT;
  return {ErrorKind::environment,
          fmt::format("{} {}: {}; {}", found.what, trouble.where, detail, to_do),
          found.temporary && !will_stay};
}

}  // namespace assay::net
