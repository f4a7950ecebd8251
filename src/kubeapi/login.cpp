// SPDX-License-Identifier: Apache-2.0
#include "login.h"

#include "login_program.h"

#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

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

/// Whoever opens it at this moment has the old one whole, or the new one.
Result<void> put(Fd& memory, const char* name, const std::string& text) {
  Fd fresh(::memfd_create(name, MFD_CLOEXEC));
  if (!fresh.valid()) return refused_errno("cannot keep a certificate in memory", errno);
  ASSAY_CHECK(write_all(fresh.get(), text));
  if (!memory.valid())
    memory = std::move(fresh);
  else if (::dup3(fresh.get(), memory.get(), O_CLOEXEC) < 0)
    return refused_errno("cannot keep a certificate in memory", errno);
  return {};
}

std::filesystem::path path_of(const Fd& memory) {
  return memory.valid() ? fmt::format("/proc/self/fd/{}", memory.get()) : "";
}

}  // namespace

Result<std::shared_ptr<Login>> Login::run(LoginCommand command) {
  auto login = std::make_shared<Login>(std::move(command));
  ASSAY_CHECK(login->token().map([](const std::string&) {}));
  return login;
}

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
  if (!key.empty()) {
    ASSAY_CHECK(put(certificate_, "certificate", certificate));
    ASSAY_CHECK(put(key_, "key", key));
    ++certificates_;
  }
  expires_ = until;
  token_ = token;
  known_ = true;
  return {};
}

Result<std::string> Login::token(const StillWanted& wanted) {
  Lock lock(mutex_);
  while (running_) {
    if (wanted && !wanted()) return refused("stopped");
    ended_.wait_for(lock, kLookAgain);
  }
  if (is_fresh()) return token_;
  running_ = true;
  lock.unlock();
  const auto told = run_login_program(command_, exec_info(command_), wanted);
  lock.lock();
  running_ = false;
  ended_.notify_all();
  if (!told) return fail(told.error());
  ASSAY_CHECK(take(*told));
  return token_;
}

void Login::forget(const std::string& refused) {
  const Lock lock(mutex_);
  if (refused == token_) known_ = false;
}

uint64_t Login::certificates() const {
  const Lock lock(mutex_);
  return certificates_;
}

std::filesystem::path Login::certificate_file() const {
  const Lock lock(mutex_);
  return path_of(certificate_);
}

std::filesystem::path Login::key_file() const {
  const Lock lock(mutex_);
  return path_of(key_);
}

}  // namespace assay::kubeapi
