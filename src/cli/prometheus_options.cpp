// SPDX-License-Identifier: Apache-2.0
#include "prometheus_options.h"

#include "named_file.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include <assay/base/letters.h>
#include <assay/base/wording.h>

namespace assay::cli {
namespace {

/// "10.0.0.5" is http://10.0.0.5:9090, "fd00::1" is http://[fd00::1]:9090.
std::string url_of(std::string address) {
  if (address.empty() || address.find("://") != address.npos) return address;
  const auto colons = std::count(address.begin(), address.end(), ':');
  if (colons > 1 && !address.starts_with('[')) address = fmt::format("[{}]", address);
  const bool has_port = colons == 1 || address.find("]:") != address.npos;
  return fmt::format("http://{}{}", address, has_port ? "" : ":9090");
}

/// What is wrong with the name; empty: nothing.
std::string is_there(const std::string& file) {
  const auto found = check_named_file(file);
  return found ? "" : found.error().message;
}

std::string is_address(const std::string& address) {
  const auto scheme = lower_case(address.substr(0, address.find("://")));
  const bool other = address.find("://") != address.npos && scheme != "http" && scheme != "https";
  return other ? in_quotes(address) + " has to begin with http:// or https://" : "";
}

}  // namespace

void add_prometheus_options(CLI::App& command, PrometheusOptions& options, const char* what,
                            const char* group) {
  command.add_option("--prometheus", options.address, what)
      ->check(is_address)
      ->type_name("URL")
      ->group(group);
  command.add_option("--prometheus-ca", options.ca, "Certificate that it is trusted by")
      ->check(is_there)
      ->type_name("FILE")
      ->group(group);
  command.add_option("--prometheus-token", options.token, "File with the token that it wants")
      ->check(is_there)
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--prometheus-user", options.user, "File with the user:password that it wants")
      ->check(is_there)
      ->type_name("FILE")
      ->group(group);
}

promapi::PrometheusAccess prometheus_access(const PrometheusOptions& options) {
  std::string address = options.address;
  const char* const from_environment = std::getenv("PROMETHEUS_IP");
  if (address.empty() && from_environment != nullptr) address = from_environment;
  return {.url = url_of(std::move(address)),
          .ca_file = options.ca,
          .bearer_token_file = options.token,
          .basic_auth_file = options.user};
}

}  // namespace assay::cli
