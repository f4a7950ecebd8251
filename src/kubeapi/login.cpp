// SPDX-License-Identifier: Apache-2.0
#include "login.h"

#include "login_program.h"
#include "memory_file.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/wording.h>
#include <assay/kubeapi/json_at.h>

namespace assay::kubeapi {
namespace {

using Json = nlohmann::json;

constexpr Milliseconds kLookAgain{100};

/// As KUBERNETES_EXEC_INFO tells it.
std::string exec_info(const LoginCommand& command) {
  Json info = {{"apiVersion", command.api_version},
               {"kind", "ExecCredential"},
               {"spec", {{"interactive", false}}}};
  if (!command.cluster.empty())
    info["spec"]["cluster"] = Json::parse(command.cluster, nullptr, false);
  return info.dump();
}

}  // namespace

bool Login::is_fresh() const {
  return known_ && (!expires_ || SystemClock().wall() < *expires_);
}

Result<void> Login::take(const std::string& told) {
  const auto wrong = [this](const char* what) {
    return refused(fmt::format("what {} tells {}", in_quotes(command_.program), what));
  };
  const Json json = Json::parse(told, nullptr, false);
  if (text_at(json, "kind") != "ExecCredential" ||
      text_at(json, "apiVersion") != command_.api_version)
    return wrong(("is no ExecCredential of " + command_.api_version).c_str());
  const Json& status = at(json, "status");
  const std::string token = text_at(status, "token");
  const std::string certificate = text_at(status, "clientCertificateData");
  const std::string key = text_at(status, "clientKeyData");
  if (certificate.empty() != key.empty()) return wrong("has a certificate or its key alone");
  if (token.empty() && key.empty()) return wrong("has neither a token nor a certificate");
  const std::string expires = text_at(status, "expirationTimestamp");
  const auto until = parse_utc(expires);
  if (!expires.empty() && !until) return wrong("has a time that is none");
  Credential fresh{.token = token, .certificate = {}, .number = credential_.number + 1};
  if (!key.empty()) {
    // In one file: they are never read from two runs.
    ASSAY_TRY(fresh.certificate, keep_in_memory("certificate", certificate + "\n" + key));
  }
  credential_ = std::move(fresh);
  expires_ = until;
  known_ = true;
  return {};
}

Result<Credential> Login::credential(const StillWanted& wanted) {
  Lock lock(mutex_);
  while (running_) {
    if (wanted && !wanted()) return refused("stopped");
    ended_.wait_for(lock, kLookAgain);
  }
  if (is_fresh()) return credential_;
  running_ = true;
  lock.unlock();
  const auto told = run_login_program(command_, exec_info(command_), wanted);
  lock.lock();
  running_ = false;
  ended_.notify_all();
  if (!told) return fail(told.error());
  ASSAY_CHECK(take(*told));
  return credential_;
}

void Login::forget(uint64_t number) {
  const Lock lock(mutex_);
  if (number == credential_.number) known_ = false;
}

}  // namespace assay::kubeapi
