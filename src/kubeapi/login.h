// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/mutex.h>
#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::kubeapi {

/// A program that a kubeconfig names for its user, as clouds have them.
struct LoginCommand {
  std::string program = {};  ///< a path, or a name that is looked for in PATH
  std::vector<std::string> arguments = {};
  std::map<std::string, std::string> environment = {};  ///< beside ours
  std::string api_version = {};  ///< "client.authentication.k8s.io/v1", or v1beta1
  std::string cluster = {};      ///< what it is told of the cluster, as JSON; empty: nothing
  std::string hint = {};         ///< how to install it
  Milliseconds patience{60'000};
};

/// Asked several times a second while a program is waited for; false ends the waiting. May be
/// empty.
using StillWanted = std::function<bool()>;

/// What a program told, to be shown to the server.
struct Credential {
  std::string token = {};  ///< empty: there is only a certificate
  /// A file in memory with a client certificate and its key; null: there is only a token.
  std::shared_ptr<const Fd> certificate = {};
  uint64_t number = 0;  ///< the first is 1
};

/// Who we are to a cluster, as a LoginCommand tells it: a token, or a client certificate, or both.
/// The program is run when that is asked for first, and again once it has expired or was refused;
/// it gets no terminal, and its last words are in the error when it fails. What it told is kept in
/// memory alone and never shown. Thread-safe.
class Login {
 public:
  explicit Login(LoginCommand command) : command_(std::move(command)) {}

  /// The program is ended when it is not wanted any more. Threads that wait for one run share what
  /// comes of it, also its error; when it is ended for who began it, another one begins anew.
  Result<Credential> credential(const StillWanted& wanted = {});
  /// The server refused the one with this number; one that is newer by now is kept.
  void forget(uint64_t number);

 private:
  class Turn;

  Result<Credential> run(const StillWanted& wanted);
  bool is_fresh() const ASSAY_REQUIRES(mutex_);
  Result<Credential> last() const ASSAY_REQUIRES(mutex_);
  Result<void> take(const std::string& told) ASSAY_REQUIRES(mutex_);

  const LoginCommand command_;
  mutable Mutex mutex_;
  std::condition_variable_any ended_;
  bool running_ ASSAY_GUARDED_BY(mutex_) = false;          ///< the program, for one of the threads
  uint64_t runs_ ASSAY_GUARDED_BY(mutex_) = 0;             ///< that have come to something
  std::optional<Error> failure_ ASSAY_GUARDED_BY(mutex_);  ///< of the last one
  bool known_ ASSAY_GUARDED_BY(mutex_) = false;
  Credential credential_ ASSAY_GUARDED_BY(mutex_);
  std::optional<Timestamp> expires_ ASSAY_GUARDED_BY(mutex_);
};

}  // namespace assay::kubeapi
