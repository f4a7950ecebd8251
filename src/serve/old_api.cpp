// SPDX-License-Identifier: Apache-2.0
#include "old_api.h"

#include "answers.h"
#include "multipart.h"
#include "old_call.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
#include <assay/placement/rank.h>

namespace assay::serve {
namespace {

using net::ServerRequest;
using net::ServerResponse;
using nlohmann::ordered_json;

constexpr size_t kLargestCall = 64U << 10U;

std::string dumped(const ordered_json& document) {
  return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// Where the model goes, as old callers read it; an error when there is nowhere.
Result<std::string> prediction(const Snapshot& now, const placement::Question& question) {
  if (!now.problem.empty()) return refused(now.problem);
  const auto ranking =
      placement::rank(placement::candidates(*now.predictor, now.fleet, question), {});
  if (ranking.devices.empty() || !ranking.devices.front().possible) {
    std::string reason = ranking.answer;
    for (const auto& one : ranking.left_out)
      reason += fmt::format("; {}: {}", one.node, one.reason);
    return refused(reason);
  }
  const placement::Candidate& best = ranking.devices.front().candidate;
  return dumped({{"class", best.node.kind},
                 {"device_model", best.node.model},
                 {"model", question.name},
                 {"node", best.node.name},
                 {"node_uuid", best.node.uuid},
                 {"predicted_execution_time", best.seconds}});
}

/// `characteristics` and `prediction` are JSON as it is to be sent; so is `more`, behind them.
std::string success(std::string_view characteristics, std::string_view prediction,
                    std::string_view more) {
  return fmt::format(
      "{{\"status\": \"success\", \"message\": \"Profiling data received\", "
      "\"model_characteristics\": {}, \"profiling_prediction\": {}{}}}\n",
      characteristics, prediction, more);
}

/// The fields of the form that both uploads have.
struct Form {
  std::string filename;
  std::string_view data;
  double input_size = 0;
  double output_size = 0;
};

Result<double> size_field(const std::vector<FormPart>& parts, std::string_view name) {
  for (const auto& part : parts) {
    if (part.name != name) continue;
    const auto value = parse_double(trim(part.data));
    if (!value || !(*value >= 0))
      return bad_input(fmt::format("the field '{}' must be a number of at least 0", name));
    return *value;
  }
  return bad_input(fmt::format("the field '{}' is missing", name));
}

Result<Form> form_of(const ServerRequest& request, std::string_view body) {
  ASSAY_TRY(const auto parts, parse_multipart(request.content_type, body));
  Form form;
  for (const auto& part : parts) {
    if (part.name != "file") continue;
    form.filename = part.filename;
    form.data = part.data;
  }
  if (form.data.empty()) return bad_input("the field 'file' is missing, or the file is empty");
  ASSAY_TRY(form.input_size, size_field(parts, "model_input_size"));
  ASSAY_TRY(form.output_size, size_field(parts, "model_output_size"));
  return form;
}

int status_of(const Error& error) {
  return error.kind == ErrorKind::input ? 400 : 503;
}

ordered_json counts_document(const Uploaded& uploaded) {
  const model::Counts& counts = uploaded.model.counts;
  return {{"model", uploaded.name},
          {"conv_layers", counts.conv_layers},
          {"pool_layers", counts.pool_layers},
          {"fc_layers", counts.fc_layers},
          {"filter_details", count(counts.filter_details)},
          {"total_parameters", count(counts.total_parameters)},
          {"model_input_size", count(counts.model_input_size)},
          {"model_output_size", count(counts.model_output_size)}};
}

/// Reads the form from its file, keeps the model and says where it goes.
Result<ServerResponse> upload_answer(const ServerRequest& request, const Snapshot& now,
                                     Uploads& uploads) {
  ASSAY_CHECK(check_not_empty(request));
  ASSAY_TRY(const auto body, model::MappedFile::open(request.body_file));
  ASSAY_TRY(const Form form, form_of(request, body.bytes()));
  ASSAY_TRY(Uploaded uploaded, uploads.add(form.filename, form.data));
  uploaded.model.counts.model_input_size = form.input_size;
  uploaded.model.counts.model_output_size = form.output_size;
  auto predicted = prediction(now, {uploaded.name, uploaded.model});
  if (!predicted) {
    uploads.remove(uploaded);  // the caller will send it again
    return fail(predicted.error());
  }
  const std::string& told = *predicted;
  const std::string path = dumped(ordered_json(uploaded.file.native()));
  return json_answer(201, success(dumped(counts_document(uploaded)), told,
                                  fmt::format(", \"filepath\": {}", path)));
}

}  // namespace

net::RequestPlan OldApi::plan(const ServerRequest& head) {
  const auto refused = [](int status, std::string_view why, const char* name, const char* value) {
    auto response = old_error(status, why);
    if (name != nullptr) response.headers.emplace_back(name, value);
    return net::RequestPlan{.refusal = std::move(response)};
  };
  if (!limit_.allows(net::caller_of(head.address), clock_.now()))
    return refused(429, "too many requests; come again in a second", "Retry-After", "1");
  const bool is_upload = head.path == "/upload";
  if (!is_upload && head.path != "/api/profiling")
    return refused(404, "only /api/profiling and /upload are here", nullptr, nullptr);
  if (head.method != "POST") return refused(405, "only POST is possible here", "Allow", "POST");
  // A browser says for which page it asks; nobody's page is meant to ask here.
  if (!head.page.empty()) return refused(403, "web pages may not ask here", nullptr, nullptr);
  if (!is_upload) return {kLargestCall};
  return uploads_.plan(head, largest_upload_, old_error);
}

ServerResponse OldApi::profiling(const ServerRequest& request) const {
  const auto call = parse_old_call(request.body);
  if (!call) return old_error(status_of(call.error()), call.error().message);
  const auto told = prediction(*state_.now(), {call->model, call->counts});
  if (!told) return old_error(503, told.error().message);
  // What was sent comes back as it was sent: numbers may be larger than ours.
  std::string_view sent = request.body;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (sent.starts_with(kByteOrderMark)) sent.remove_prefix(kByteOrderMark.size());
  return json_answer(200, success(trim(sent), *told, ""));
}

ServerResponse OldApi::upload(const ServerRequest& request) const {
  ServerResponse response;
  response.later = [this, request] {
    const BodyRemoved removed(request);
    const auto answer = upload_answer(request, *state_.now(), uploads_);
    if (!answer) return old_error(status_of(answer.error()), answer.error().message);
    return *answer;
  };
  return response;
}

ServerResponse OldApi::answer(const ServerRequest& request) const {
  return request.path == "/upload" ? upload(request) : profiling(request);
}

}  // namespace assay::serve
