// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control.h"
#include "decide/decisions.h"
#include "live_table.h"
#include "reports.h"

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
  const Device& device;
  const LiveTable& table;
  const Reports& reports;
  Control& control;
  const Decisions& decisions;
  std::function<void(promapi::FamilyWriter&)> write_metrics;
  std::function<std::string()> advice;  ///< as JSON
};

/// Answers requests over HTTP (docs/agent.md has them all). Knows no socket; one thread.
class Api {
 public:
  explicit Api(ApiSources sources) : sources_(std::move(sources)) {}

  net::ServerResponse answer(const net::ServerRequest& request);

 private:
  net::ServerResponse metrics(const net::ServerRequest& request);
  net::ServerResponse apps() const;
  net::ServerResponse advice() const;
  net::ServerResponse stream() const;
  std::string table_text() const;

  ApiSources sources_;
  promapi::Exposition exposition_;
  promapi::Gzip gzip_;
};

}  // namespace assay::agent
