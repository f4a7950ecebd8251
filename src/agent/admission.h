// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tokens.h"

#include <string>
#include <sys/types.h>

#include <assay/net/http_server.h>

namespace assay::agent {

/// Whether a caller may do something, and who it is.
struct Admission {
  int status = 200;      ///< 401: say who you are; 403: you may not
  std::string error;     ///< why not, in a sentence
  std::string who = {};  ///< for logs: a token's name and role, or a user
};

/// What the decision rests on, apart from the request.
struct Door {
  const Tokens& tokens;
  std::string_view listen;    ///< as set: "127.0.0.1:9410"
  std::string_view hostname;  ///< of this machine
  uid_t user = 0;             ///< as whom the daemon runs
};

/// Reading is open on this machine, everything else takes a token with that role; root and the
/// daemon's own user need none on the unix socket. A web page of somebody else, which a browser of
/// this machine would ask for, is nobody of this machine.
Admission admit(const net::ServerRequest& request, Role role, const Door& door);

}  // namespace assay::agent
