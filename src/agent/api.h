// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "admission.h"
#include "control.h"
#include "decide/decisions.h"
#include "live_table.h"
#include "reports.h"
#include "tokens.h"

#include <functional>
#include <string>

#include <assay/agent/agent.h>
#include <assay/net/http_server.h>
#include <assay/promapi/exposition.h>
#include <assay/samples/records.h>

namespace assay::agent {

/// What the answers are made of. All of it outlives the Api, and may change between two requests.
struct ApiSources {
  const Clock& clock;
  const Settings& settings;
  const Tokens& tokens;
  const Device& device;
  const LiveTable& table;
  const Reports& reports;
  Control& control;
  const Decisions& decisions;
  std::function<void(promapi::FamilyWriter&)> write_metrics;
  std::function<std::string()> advice;  ///< as JSON
  Tell tell;
};

/// Answers requests over HTTP (docs/agent.md has them all). Knows no socket; one thread.
class Api {
 public:
  explicit Api(ApiSources sources) : sources_(std::move(sources)) {}

  net::ServerResponse answer(const net::ServerRequest& request);

 private:
  struct Route;
  static const Route* find_route(const std::string& path);
  net::ServerResponse health(const net::ServerRequest& request);
  net::ServerResponse metrics(const net::ServerRequest& request);
  net::ServerResponse apps(const net::ServerRequest& request);
  net::ServerResponse advice(const net::ServerRequest& request);
  net::ServerResponse stream(const net::ServerRequest& request);
  net::ServerResponse put_goals(const net::ServerRequest& request);
  net::ServerResponse put_limits(const net::ServerRequest& request);
  net::ServerResponse put_interval(const net::ServerRequest& request);
  net::ServerResponse post_capture(const net::ServerRequest& request);

  /// Of all apps, or of the one that is named.
  std::string table_text(const std::string& app = "") const;
  /// `change(path)` changes the app that a call names; it is told who asked for what.
  template <class Change>
  net::ServerResponse change(const std::string& app, const std::string& what, Change change);

  ApiSources sources_;
  std::string who_;  ///< asks at present
  promapi::Exposition exposition_;
  promapi::Gzip gzip_;
};

}  // namespace assay::agent
