// SPDX-License-Identifier: Apache-2.0
#include "api.h"

#include "live_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

namespace assay::agent {
namespace {

net::ServerResponse plain(int status, std::string text) {
  net::ServerResponse response;
  response.status = status;
  response.body = std::move(text);
  return response;
}

}  // namespace

net::ServerResponse Api::answer(const net::ServerRequest& request) {
  if (request.method != "GET" && request.method != "HEAD")
    return plain(405, "only reading is possible here\n");
  if (request.origin == net::Origin::network)
    return plain(401, "only this machine may read without a token\n");
  if (request.path == "/metrics") return metrics(request);
  if (request.path == "/healthz" || request.path == "/readyz") return plain(200, "ok\n");
  if (request.path == "/api/v1/apps") return apps();
  if (request.path == "/api/v1/advice") return advice();
  if (request.path == "/api/v1/stream") return stream();
  return plain(404, "there is nothing at this address; see /metrics and /api/v1/apps\n");
}

net::ServerResponse Api::metrics(const net::ServerRequest& request) {
  const auto wanted = promapi::negotiate(request.accept, request.accept_encoding);
  exposition_.start(wanted.format);
  sources_.write_metrics(exposition_);
  const std::string_view text = exposition_.finish();
  net::ServerResponse response;
  response.content_type = std::string(wanted.content_type);
  if (wanted.gzip) {
    if (const auto packed = gzip_.compressed(text)) {
      response.headers.emplace_back("Content-Encoding", "gzip");
      response.body = std::string(*packed);
      return response;
    }
  }
  response.body = std::string(text);
  return response;
}

std::string Api::table_text() const {
  auto json = to_json(sources_.table, sources_.reports, sources_.decisions, sources_.clock.now());
  const Device& device = sources_.device;
  json["node"] = {
      {"name", device.hostname}, {"cores", device.cores}, {"memory_bytes", device.memory_bytes}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

net::ServerResponse Api::apps() const {
  net::ServerResponse response;
  response.content_type = "application/json";
  response.body = table_text() + "\n";
  return response;
}

net::ServerResponse Api::advice() const {
  net::ServerResponse response;
  response.content_type = "application/json";
  response.body = sources_.advice() + "\n";
  return response;
}

net::ServerResponse Api::stream() const {
  net::ServerResponse response;
  response.content_type = "text/event-stream";
  response.next = [this] { return fmt::format("data: {}\n\n", table_text()); };
  response.body = response.next();
  response.interval = sources_.settings.interval;
  return response;
}

}  // namespace assay::agent
