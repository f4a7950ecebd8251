// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "rate_limit.h"
#include "state.h"
#include "uploads.h"

#include <assay/base/time.h>
#include <assay/net/http_server.h>

namespace assay::serve {

/// The two routes that existing callers of placement use (docs/serve.md), as they know them.
class OldApi {
 public:
  OldApi(const State& state, Uploads& uploads, const Clock& clock, const ServiceSettings& settings)
      : state_(state),
        uploads_(uploads),
        clock_(clock),
        largest_upload_(settings.largest_upload),
        limit_(settings.old_rate) {}

  /// Who may not ask is told before anything else is read.
  net::RequestPlan plan(const net::ServerRequest& head);
  net::ServerResponse answer(const net::ServerRequest& request) const;

 private:
  net::ServerResponse profiling(const net::ServerRequest& request) const;
  net::ServerResponse upload(const net::ServerRequest& request) const;

  const State& state_;
  Uploads& uploads_;
  const Clock& clock_;
  uint64_t largest_upload_;
  RateLimit limit_;
};

}  // namespace assay::serve
