// SPDX-License-Identifier: Apache-2.0
#include "api.h"

#include "answers.h"
#include "multipart.h"
#include "placements_call.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/secret.h>
#include <assay/placement/assign.h>
#include <assay/placement/document.h>

namespace assay::serve {

using net::ServerRequest;
using net::ServerResponse;
using nlohmann::json;

namespace {

constexpr size_t kLargestCall = 1U << 20U;
constexpr const char* kStartsNone =
    "this service starts no models; its operator can, with --deploy-image";

std::string dumped(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

int status_of(const Error& error) {
  return error.kind == ErrorKind::input ? 422 : 503;
}

Result<placement::Fleet> with_loads(placement::Fleet fleet,
                                    const std::map<std::string, double>& loads) {
  for (const auto& entry : loads) {
    const std::string& name = entry.first;
    const auto node = std::find_if(fleet.nodes.begin(), fleet.nodes.end(),
                                   [&](const auto& each) { return each.name == name; });
    if (node == fleet.nodes.end())
      return bad_input(fmt::format("a load is given for '{}', which is no known node", name));
    node->load = entry.second;
  }
  return fleet;
}

/// A question, and the file of the model where there is one.
struct Asked {
  placement::Question question;
  std::filesystem::path file;
};

Result<Asked> asked_of(const ModelCall& call, const PlacementsCall& all, Uploads& uploads) {
  if (call.id.empty()) return Asked{{call.name, call.counts, all.network, all.engine}, {}};
  // Whoever runs it needs the shapes of its inputs.
  ASSAY_TRY(const Uploaded uploaded, all.deploy ? uploads.read(call.id) : uploads.find(call.id));
  const std::string& name = call.name.empty() ? uploaded.name : call.name;
  return Asked{{name, uploaded.model, all.network, all.engine}, uploaded.file};
}

/// Starts a model on a device of its ranking; null where there is none for it.
json deployed(const Asked& asked, const placement::Ranking& ranking, std::optional<size_t> place,
              const predict::Predictor& predictor, Deployments& deployments) {
  if (!place || !ranking.devices[*place].missed.empty())
    return {{"error", "no device has room for it and reaches the goals"}};
  if (asked.file.empty()) return {{"error", "only a model that was sent can be started"}};
  return deployments.deploy(
      {.name = std::filesystem::path(asked.question.name).stem().native(),
       .file = asked.file,
       .characteristics = std::get<model::Characteristics>(asked.question.model),
       .candidate = ranking.devices[*place].candidate,
       .devices = predictor.devices(),
       .image = ""});
}

Result<std::string> placements_of(const PlacementsCall& call, const Snapshot& now, Uploads& uploads,
                                  Deployments& deployments) {
  if (!now.problem.empty()) return refused(now.problem);
  std::optional<placement::Fleet> loaded;
  if (!call.loads.empty()) {
    ASSAY_TRY(loaded, with_loads(now.fleet, call.loads));
  }
  const placement::Fleet& fleet = loaded ? *loaded : now.fleet;
  ASSAY_CHECK(placement::check_engine(*now.predictor, call.engine));
  std::vector<Asked> asked;
  std::vector<placement::Ranking> rankings;
  for (const auto& model : call.models) {
    ASSAY_TRY(Asked one, asked_of(model, call, uploads));
    rankings.push_back(
        placement::rank(placement::candidates(*now.predictor, fleet, one.question), call.goals));
    asked.push_back(std::move(one));
  }
  std::vector<std::string> names;
  names.reserve(asked.size());
  for (const auto& one : asked) names.push_back(one.question.name);
  const auto assigned = placement::assign(rankings);
  std::string text = placement::placements_json(names, rankings, assigned) + "\n";
  if (!call.deploy) return text;
  json document = json::parse(text);
  for (size_t i = 0; i < asked.size(); ++i)
    document["placements"][i]["deployed"] =
        deployed(asked[i], rankings[i], assigned[i].device, *now.predictor, deployments);
  return dumped(document);
}

/// The model in the body: as it is, or in a form's field "file".
Result<Uploaded> add_model(const ServerRequest& request, Uploads& uploads) {
  ASSAY_CHECK(check_not_empty(request));
  ASSAY_TRY(const auto body, model::MappedFile::open(request.body_file));
  if (!is_multipart(request.content_type))
    return uploads.add(request.parameter("name"), body.bytes());
  ASSAY_TRY(const auto parts, parse_multipart(request.content_type, body.bytes()));
  for (const auto& part : parts) {
    if (part.name == "file") return uploads.add(part.filename, part.data);
  }
  return bad_input("the field 'file' is missing");
}

json model_document(const Uploaded& uploaded) {
  const model::Counts& counts = uploaded.model.counts;
  json document = {{"id", uploaded.id},
                   {"model", uploaded.name},
                   {"precision", uploaded.model.precision},
                   {"conv_layers", counts.conv_layers},
                   {"pool_layers", counts.pool_layers},
                   {"fc_layers", counts.fc_layers},
                   {"filter_details", count(counts.filter_details)},
                   {"total_parameters", count(counts.total_parameters)},
                   {"model_input_size", count(counts.model_input_size)},
                   {"model_output_size", count(counts.model_output_size)},
                   {"workload", json::object()}};
  for (const auto& column : model::kWorkloadColumns)
    document["workload"][std::string(column.name)] = uploaded.model.workload.*column.value;
  return document;
}

}  // namespace

struct Api::Route {
  std::string_view path;
  std::string_view method;
  bool open;  ///< without a token
  ServerResponse (Api::*answer)(const ServerRequest&) const;
};

const Api::Route* Api::find_route(const std::string& path) {
  static constexpr std::array kRoutes = {
      Route{"/healthz", "GET", true, &Api::health},
      Route{"/readyz", "GET", true, &Api::ready},
      Route{"/api/v1/devices", "GET", false, &Api::devices},
      Route{"/api/v1/deployments", "GET", false, &Api::deployments},
      Route{"/api/v1/models", "POST", false, &Api::models},
      Route{"/api/v1/placements", "POST", false, &Api::placements},
  };
  const auto* const route = std::find_if(kRoutes.begin(), kRoutes.end(),
                                         [&](const Route& each) { return each.path == path; });
  return route == kRoutes.end() ? nullptr : route;
}

net::RequestPlan Api::plan(const ServerRequest& head) const {
  const Route* const route = find_route(head.path);
  if (route == nullptr)
    return {.refusal = problem(404, "there is nothing at this address; see /api/v1/placements")};
  const std::string_view method = head.method == "HEAD" ? "GET" : std::string_view(head.method);
  if (method != route->method) {
    auto response = problem(405, fmt::format("only {} is possible here", route->method));
    response.headers.emplace_back("Allow", route->method == "GET" ? "GET, HEAD" : route->method);
    return {.refusal = std::move(response)};
  }
  constexpr std::string_view kBearer = "Bearer ";
  const bool known =
      head.authorization.starts_with(kBearer) &&
      is_same_secret(token_, std::string_view(head.authorization).substr(kBearer.size()));
  if (!route->open && !known) {
    auto response = problem(401, "this takes the token of the service, as 'Authorization: Bearer'");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return {.refusal = std::move(response)};
  }
  if (route->answer == &Api::models) return uploads_.plan(head, largest_upload_, problem);
  return {kLargestCall};
}

ServerResponse Api::answer(const ServerRequest& request) const {
  const Route* const route = find_route(request.path);
  return (this->*route->answer)(request);
}

ServerResponse Api::health(const ServerRequest& /*request*/) const {
  return json_answer(200, "{\"status\": \"ok\"}\n");
}

ServerResponse Api::ready(const ServerRequest& /*request*/) const {
  const auto now = state_.now();
  if (!now->problem.empty()) return problem(503, now->problem);
  return json_answer(200, "{\"status\": \"ready\"}\n");
}

ServerResponse Api::devices(const ServerRequest& /*request*/) const {
  const auto now = state_.now();
  if (!now->problem.empty()) return problem(503, now->problem);
  return json_answer(200, placement::fleet_json(now->fleet) + "\n");
}

ServerResponse Api::placements(const ServerRequest& request) const {
  const auto call = parse_placements_call(request.body);
  if (!call) return problem(422, call.error().message);
  if (call->deploy && deployments_.image().empty()) return problem(403, kStartsNone);
  const auto work = [this, call = *call] {
    const auto turn = call.deploy ? deployments_.begin() : std::unique_lock<std::mutex>();
    if (call.deploy && !turn) return problem(503, "another model is being started; come again");
    auto found = placements_of(call, *state_.now(), uploads_, deployments_);
    if (!found) return problem(status_of(found.error()), found.error().message);
    return json_answer(200, std::move(*found));
  };
  // One model by its counts is answered at once; files and many models may take a moment.
  const bool at_once = call->models.size() == 1 && call->models.front().id.empty() && !call->deploy;
  if (at_once) return work();
  ServerResponse response;
  response.later = work;
  return response;
}

ServerResponse Api::deployments(const ServerRequest& /*request*/) const {
  if (deployments_.image().empty()) return problem(403, kStartsNone);
  ServerResponse response;
  response.later = [this] {
    const auto found = deployments_.list();
    if (!found) return problem(503, found.error().message);
    return json_answer(200, dumped(placement::workers_document(*found)));
  };
  return response;
}

ServerResponse Api::models(const ServerRequest& request) const {
  ServerResponse response;
  response.later = [this, request] {
    const BodyRemoved removed(request);
    const auto uploaded = add_model(request, uploads_);
    if (!uploaded) return problem(status_of(uploaded.error()), uploaded.error().message);
    return json_answer(201, dumped(model_document(*uploaded)));
  };
  return response;
}

}  // namespace assay::serve
