// SPDX-License-Identifier: Apache-2.0
#include "api.h"

#include "app_search.h"
#include "calls.h"
#include "live_json.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <unistd.h>
#include <utility>

#include <assay/base/wording.h>

namespace assay::agent {

using net::refusal;
using net::ServerRequest;
using net::ServerResponse;

namespace {

/// A log's line is one line, whatever a control group is called.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, '?');
  return text;
}

}  // namespace

struct Api::Route {
  std::string_view path;
  std::string_view method;
  std::optional<Role> role;  ///< none: whoever asks
  ServerResponse (Api::*answer)(const ServerRequest&);
};

const Api::Route* Api::find_route(const std::string& path) {
  static constexpr std::array kRoutes = {
      Route{"/healthz", "GET", std::nullopt, &Api::health},
      Route{"/readyz", "GET", std::nullopt, &Api::health},
      Route{"/metrics", "GET", Role::read, &Api::metrics},
      Route{"/api/v1/apps", "GET", Role::read, &Api::apps},
      Route{"/api/v1/advice", "GET", Role::read, &Api::advice},
      Route{"/api/v1/stream", "GET", Role::read, &Api::stream},
      Route{"/api/v1/goals", "PUT", Role::goals, &Api::put_goals},
      Route{"/api/v1/limits", "PUT", Role::limits, &Api::put_limits},
      Route{"/api/v1/interval", "PUT", Role::captures, &Api::put_interval},
      Route{"/api/v1/captures", "POST", Role::captures, &Api::post_capture},
  };
  const auto* const route = std::find_if(kRoutes.begin(), kRoutes.end(),
                                         [&](const Route& each) { return each.path == path; });
  return route == kRoutes.end() ? nullptr : route;
}

ServerResponse Api::answer(const ServerRequest& request) {
  const Route* const route = find_route(request.path);
  if (route == nullptr)
    return refusal(404, "there is nothing at this address; see /metrics and /api/v1/apps");
  const std::string_view method =
      request.method == "HEAD" ? "GET" : std::string_view(request.method);
  if (method != route->method) {
    auto response = refusal(405, fmt::format("only {} is possible here", route->method));
    response.headers.emplace_back("Allow", route->method == "GET" ? "GET, HEAD" : route->method);
    return response;
  }
  if (route->role) {
    const Door door{sources_.tokens, sources_.settings.listen, sources_.device.hostname,
                    ::geteuid()};
    auto admission = admit(request, *route->role, door);
    if (admission.status != 200) {
      auto response = refusal(admission.status, admission.error);
      if (admission.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
      return response;
    }
    who_ = std::move(admission.who);
  }
  return (this->*route->answer)(request);
}

ServerResponse Api::health(const ServerRequest& /*request*/) {
  ServerResponse response;
  response.body = "ok\n";
  return response;
}

ServerResponse Api::metrics(const ServerRequest& request) {
  const auto wanted = promapi::negotiate(request.accept, request.accept_encoding);
  exposition_.start(wanted.format);
  sources_.write_metrics(exposition_);
  const std::string_view text = exposition_.finish();
  ServerResponse response;
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

std::string Api::table_text(const std::string& app) const {
  const Timestamp now = sources_.clock.now();
  auto json = app.empty() ? to_json(sources_.table, sources_.reports, sources_.decisions, now)
                          : to_json(app, sources_.table, sources_.reports, now);
  const Device& device = sources_.device;
  json["node"] = {
      {"name", device.hostname}, {"cores", device.cores}, {"memory_bytes", device.memory_bytes}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

ServerResponse Api::apps(const ServerRequest& request) {
  ServerResponse response;
  response.content_type = "application/json";
  response.body = table_text(request.parameter("app")) + "\n";
  return response;
}

ServerResponse Api::advice(const ServerRequest& /*request*/) {
  ServerResponse response;
  response.content_type = "application/json";
  response.body = sources_.advice() + "\n";
  return response;
}

ServerResponse Api::stream(const ServerRequest& /*request*/) {
  ServerResponse response;
  response.content_type = "text/event-stream";
  response.next = [this] { return fmt::format("data: {}\n\n", table_text()); };
  response.body = response.next();
  response.interval = sources_.settings.interval;
  return response;
}

template <class Change>
ServerResponse Api::change(const std::string& app, const std::string& what, Change change) {
  const auto found = find_app(app, sources_.table, sources_.reports);
  if (found.status != 200) return refusal(found.status, found.error);
  const Result<void> done = change(found.path);
  const auto outcome = done ? std::string() : fmt::format("; refused: {}", done.error().message);
  sources_.tell(fmt::format("{} by {}: {}{}", one_line(found.path), who_, what, outcome));
  if (!done)
    return refusal(done.error().kind == ErrorKind::input ? 422 : 409, done.error().message);
  ServerResponse response;
  response.content_type = "application/json";
  response.body = nlohmann::json({{"app", found.path}}).dump() + "\n";
  return response;
}

ServerResponse Api::put_goals(const ServerRequest& request) {
  auto call = parse_goals_call(request.body);
  if (!call) return refusal(422, call.error().message);
  std::vector<std::string> texts;
  for (const auto& goal : call->goals) texts.push_back(in_quotes(goal.text));
  const auto what = texts.empty() ? "no goals" : fmt::format("goals {}", fmt::join(texts, ", "));
  return change(call->app, what, [&](const std::string& path) {
    return sources_.control.set_goals(path, std::move(call->goals));
  });
}

ServerResponse Api::put_limits(const ServerRequest& request) {
  const auto call = parse_limits_call(request.body);
  if (!call) return refusal(422, call.error().message);
  const LimitChange& limits = call->change;
  std::string what = "limits";
  if (limits.cores) what += fmt::format(" {} cores", *limits.cores);
  if (limits.memory_bytes) what += fmt::format(" {} bytes", *limits.memory_bytes);
  return change(call->app, what,
                [&](const std::string& path) { return sources_.control.set_limits(path, limits); });
}

ServerResponse Api::put_interval(const ServerRequest& request) {
  const auto call = parse_interval_call(request.body);
  if (!call) return refusal(422, call.error().message);
  const auto what = fmt::format("read every {} for {}", format_duration(call->interval),
                                format_duration(call->length));
  return change(call->app, what, [&](const std::string& path) {
    return sources_.control.set_interval(path, call->interval, call->length);
  });
}

ServerResponse Api::post_capture(const ServerRequest& request) {
  const auto call = parse_capture_call(request.body);
  if (!call) return refusal(422, call.error().message);
  const auto what = fmt::format("capture for {}", format_duration(call->request.length));
  return change(call->app, what, [&](const std::string& path) {
    return sources_.control.capture(path, call->request);
  });
}

}  // namespace assay::agent
