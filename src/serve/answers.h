// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include <assay/net/http_server.h>

namespace assay::serve {

/// Says why there is no answer, as RFC 9457 has it: type, title, status and detail.
net::ServerResponse problem(int status, std::string_view detail);
/// The same in the form that callers of the old routes know: {"status": "error", "message": …}.
net::ServerResponse old_error(int status, std::string_view message);

/// A count as people write it: 1752, not 1752.0.
nlohmann::json count(double value);

net::ServerResponse json_answer(int status, std::string body);

}  // namespace assay::serve
