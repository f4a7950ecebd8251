// SPDX-License-Identifier: Apache-2.0
#include "plan_json.h"

namespace assay::cli {

std::vector<session::Diagnostic> errors_of(const ReadSpec& read, const session::Plan& plan) {
  auto errors = read.errors;
  errors.insert(errors.end(), plan.errors.begin(), plan.errors.end());
  return errors;
}

std::string plan_json(const ReadSpec& read, const session::Plan& plan,
                      const nlohmann::ordered_json& cluster) {
  Json list = Json::array();
  for (const auto& error : errors_of(read, plan)) {
    Json one = {{"message", error.message}};
    if (!error.file.empty()) one["file"] = error.file;
    if (error.line > 0) one["line"] = error.line;
    list.push_back(one);
  }
  Json document = Json::object();
  if (read.errors.empty()) document["plan"] = session::plan_document(read.spec, plan);
  if (!cluster.is_null()) document["cluster"] = cluster;
  document["errors"] = list;
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace assay::cli
