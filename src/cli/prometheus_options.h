// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include <assay/promapi/query.h>

namespace assay::cli {

/// Where a Prometheus is and how it is trusted, as commands are told.
struct PrometheusOptions {
  std::string address;
  std::string ca;
  std::string token;
  std::string user;
};
/// `what` is the help of --prometheus itself.
void add_prometheus_options(CLI::App& command, PrometheusOptions& options, const char* what,
                            const char* group);
/// --prometheus, else PROMETHEUS_IP; without a url when neither is there.
promapi::PrometheusAccess prometheus_access(const PrometheusOptions& options);

}  // namespace assay::cli
