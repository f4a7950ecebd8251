// SPDX-License-Identifier: Apache-2.0
#include "login.h"

#include "login_program.h"
#include "memory_file.h"

#include <chrono>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>
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

/// Years that no Timestamp reaches are as far away as one can be: 9999 means never, and so does the
/// time that programs in Go tell when they have none.
std::optional<Timestamp> parse_expiry(const std::string& text) {
  if (text == "0001-01-01T00:00:00Z") return Timestamp::max();
  if (const auto time = parse_utc(text)) return time;
  if (text.size() < 4) return std::nullopt;
  const auto year = parse_uint(std::string_view(text).substr(0, 4));
  if (!year) return std::nullopt;
  // One with the same days.
  const bool leap = std::chrono::year(static_cast<int>(*year)).is_leap();
  if (!parse_utc((leap ? "2024" : "2023") + text.substr(4))) return std::nullopt;
  return *year < 2000 ? Timestamp::min() : Timestamp::max();
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
  const auto until = parse_expiry(expires);
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

/// Of the one thread that runs the program; others go on at its end, whatever that is.
class Login::Turn {
 public:
  explicit Turn(Login& login) : login_(login) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    const Lock lock(login_.mutex_);
    login_.running_ = false;
    login_.ended_.notify_all();
  }

 private:
  Login& login_;
};

Result<Credential> Login::last() const {
  if (failure_) return fail(*failure_);
  return credential_;
}

Result<Credential> Login::credential(const StillWanted& wanted) {
  {
    Lock lock(mutex_);
    const uint64_t before = runs_;
    while (running_ && runs_ == before) {
      if (wanted && !wanted()) return refused("stopped");
      ended_.wait_for(lock, kLookAgain);
    }
    if (runs_ != before) return last();
    if (is_fresh()) return credential_;
    running_ = true;
  }
  return run(wanted);
}

Result<Credential> Login::run(const StillWanted& wanted) {
  const Turn turn(*this);
  const auto told = run_login_program(command_, exec_info(command_), wanted);
  // Others may still want it.
  if (!told && wanted && !wanted()) return fail(told.error());
  const Lock lock(mutex_);
  const Result<void> taken = told ? take(*told) : Result<void>(fail(told.error()));
  failure_ = taken ? std::nullopt : std::optional(taken.error());
  ++runs_;
  return last();
}

void Login::forget(uint64_t number) {
  const Lock lock(mutex_);
  if (number == credential_.number) known_ = false;
}

}  // namespace assay::kubeapi
