// SPDX-License-Identifier: Apache-2.0
#include "answers.h"
#include "object_json.h"
#include "write_answers.h"

#include <array>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/kubeapi/json_at.h>
#include <assay/kubeapi/writes.h>

namespace assay::kubeapi {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostConflicts = 100;

Outcome outcome_of(const net::Response& response) {
  switch (response.status) {
    case kNotFound:
    case kGone:
      return Outcome::gone;
    case kConflict:
      return Outcome::taken;
    case kTooMany:
      return Outcome::throttled;
    case kForbidden:
      // Quotas and admission forbid too, and no role helps there.
      return response.body.find(" cannot ") != std::string::npos ? Outcome::forbidden
                                                                 : Outcome::refused;
    default:
      return Outcome::refused;
  }
}

Result<Written> done_with(const net::Response& response) {
  ASSAY_TRY(ObjectMeta object, read_object(response.body));
  return Written{.object = std::move(object)};
}

/// What is between the first two quotes.
std::string quoted_in(const std::string& text) {
  const size_t begin = text.find('"');
  const size_t end = begin == text.npos ? begin : text.find('"', begin + 1);
  return end == text.npos ? "" : text.substr(begin + 1, end - begin - 1);
}

}  // namespace

Result<Written> written(const Client& client, const net::Response& response, const char* verb,
                        const Resource& resource) {
  if (response.ok()) return done_with(response);
  if (response.status == 401 || response.status >= 500)
    return not_answered(client.server(), response);
  const Outcome outcome = outcome_of(response);
  const std::string needed =
      outcome == Outcome::forbidden ? fmt::format("{} {}", verb, resource.name()) : "";
  return Written{.outcome = outcome,
                 .why = refusal_of(client.server(), response, needed),
                 .retry_after = retry_after(response)};
}

std::vector<FieldConflict> field_conflicts(std::string_view status) {
  std::vector<FieldConflict> conflicts;
  const Json json = Json::parse(status, nullptr, false);
  const Json& causes = at(at(json, "details"), "causes");
  if (!causes.is_array()) return conflicts;
  for (const auto& cause : causes) {
    if (conflicts.size() == kMostConflicts) break;
    if (text_at(cause, "reason") == "FieldManagerConflict")
      conflicts.push_back({text_at(cause, "field"), quoted_in(text_at(cause, "message"))});
  }
  return conflicts;
}

Result<Written> create_object(Client& client, const Resource& resource,
                              const std::string& name_space, const std::string& manifest,
                              net::Stopper& stopper) {
  ASSAY_TRY(const net::Response response,
            client.call({.method = "POST",
                         .path = collection_path(resource, name_space),
                         .body = manifest,
                         .finish = true},
                        stopper));
  return written(client, response, "create", resource);
}

Result<std::optional<std::string>> get_as(Client& client, const ObjectName& object,
                                          std::string_view accept, net::Stopper& stopper) {
  ASSAY_TRY(const std::string path, object_path(object));
  ASSAY_TRY(net::Response response,
            client.call({.path = path, .accept = std::string(accept)}, stopper));
  if (response.status == kNotFound && object.resource.group.empty() &&
      !nlohmann::json::parse(response.body, nullptr, false).is_object())
    return no_kubernetes(client.server(), "it has no " + object.resource.name());
  if (response.status == kNotFound) return std::optional<std::string>();
  if (!response.ok())
    return not_answered(client.server(), response, "get " + object.resource.name());
  ASSAY_TRY(const ObjectMeta meta, read_object(response.body));
  if (!object.uid.empty() && meta.uid != object.uid) return std::optional<std::string>();
  return std::optional(std::move(response.body));
}

Result<std::optional<std::string>> get_object(Client& client, const ObjectName& object,
                                              net::Stopper& stopper) {
  return get_as(client, object, "application/json", stopper);
}

Result<std::optional<ObjectMeta>> get_meta(Client& client, const ObjectName& object,
                                           net::Stopper& stopper) {
  ASSAY_TRY(const auto text, get_as(client, object, kOnlyMeta, stopper));
  if (!text) return std::optional<ObjectMeta>();
  ASSAY_TRY(ObjectMeta meta, read_object(*text));
  return std::optional(std::move(meta));
}

Result<Written> delete_object(Client& client, const ObjectName& object, Propagation propagation,
                              net::Stopper& stopper) {
  constexpr std::array<const char*, 3> kWords = {"Background", "Foreground", "Orphan"};
  ASSAY_TRY(const std::string path, object_path(object));
  Json options = {{"apiVersion", "v1"},
                  {"kind", "DeleteOptions"},
                  {"propagationPolicy", kWords[static_cast<size_t>(propagation)]}};
  if (!object.uid.empty()) options["preconditions"]["uid"] = object.uid;
  ASSAY_TRY(const net::Response response,
            client.call({.method = "DELETE", .path = path, .body = options.dump(), .finish = true},
                        stopper));
  if (response.ok()) return Written();
  ASSAY_TRY(Written answer, written(client, response, "delete", object.resource));
  // The only thing that a deletion can collide with is the uid.
  if (answer.outcome == Outcome::taken) answer.outcome = Outcome::gone;
  return answer;
}

}  // namespace assay::kubeapi
