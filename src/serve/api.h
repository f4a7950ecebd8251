// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deployments.h"
#include "state.h"
#include "uploads.h"

#include <string>

#include <assay/net/http_server.h>

namespace assay::serve {

/// The routes of the service (docs/serve.md). All but its health take the token.
class Api {
 public:
  Api(const State& state, Uploads& uploads, std::string token, const ServiceSettings& settings)
      : state_(state),
        uploads_(uploads),
        token_(std::move(token)),
        largest_upload_(settings.largest_upload),
        deployments_(settings) {}

  /// Who may not ask is told before anything else is read.
  net::RequestPlan plan(const net::ServerRequest& head) const;
  net::ServerResponse answer(const net::ServerRequest& request) const;
  /// Gives up what takes long.
  void stop() { deployments_.stop(); }

 private:
  struct Route;
  static const Route* find_route(const std::string& path);
  net::ServerResponse health(const net::ServerRequest& request) const;
  net::ServerResponse ready(const net::ServerRequest& request) const;
  net::ServerResponse devices(const net::ServerRequest& request) const;
  net::ServerResponse placements(const net::ServerRequest& request) const;
  net::ServerResponse deployments(const net::ServerRequest& request) const;
  net::ServerResponse models(const net::ServerRequest& request) const;

  const State& state_;
  Uploads& uploads_;
  std::string token_;
  uint64_t largest_upload_;
  mutable Deployments deployments_;
};

}  // namespace assay::serve
