// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/net/http_client.h>

namespace assay::kubeapi {

constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr int kConflict = 409;
constexpr int kGone = 410;
constexpr int kWrongMediaType = 415;
constexpr int kTooMany = 429;

/// What the server says went wrong, shortened and in quotes; empty when it says nothing.
std::string message_of(std::string_view status);

/// An answer that is not ok(), as an error. `needed` is what a role has to allow: "list pods".
Failure not_answered(const std::string& server, const net::Response& response,
                     const std::string& needed = "");
/// The same as a sentence.
std::string refusal_of(const std::string& server, const net::Response& response,
                       const std::string& needed);

/// Something answers there, but not as every cluster does. `why`: "it has no nodes".
Failure no_kubernetes(const std::string& server, const std::string& why);

/// For how long the server asks to be left alone, within reason; 0: it does not.
Milliseconds retry_after(const net::Response& response);

}  // namespace assay::kubeapi
