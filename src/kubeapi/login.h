// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <filesystem>
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

/// Who we are to a cluster, as a LoginCommand tells it: a token, or a client certificate, or both.
/// The program is run again once what it told has expired, or was refused; what it told is kept in
/// memory alone and never shown. Thread-safe.
class Login {
 public:
  /// Runs the program once. It gets no terminal; its last words are in the error when it fails.
  static Result<std::shared_ptr<Login>> run(LoginCommand command);
  explicit Login(LoginCommand command) : command_(std::move(command)) {}

  /// Empty: there is only a certificate, which is anew when this returns. The program is ended when
  /// it is not wanted any more; one that another thread waits for goes on.
  Result<std::string> token(const StillWanted& wanted = {});
  /// The server refused it; one that is newer by now is kept.
  void forget(const std::string& refused);
  /// Grows with each certificate: connections with an older one are of no use any more.
  uint64_t certificates() const;
  /// Files in memory that stay where they are when their content changes; empty: there is none.
  std::filesystem::path certificate_file() const;
  std::filesystem::path key_file() const;

 private:
  bool is_fresh() const ASSAY_REQUIRES(mutex_);
  Result<void> take(const std::string& told) ASSAY_REQUIRES(mutex_);

  const LoginCommand command_;
  mutable Mutex mutex_;
  std::condition_variable_any ended_;
  bool running_ ASSAY_GUARDED_BY(mutex_) = false;  ///< the program, for one of the threads
  bool known_ ASSAY_GUARDED_BY(mutex_) = false;
  std::string token_ ASSAY_GUARDED_BY(mutex_);
  std::optional<Timestamp> expires_ ASSAY_GUARDED_BY(mutex_);
  Fd certificate_ ASSAY_GUARDED_BY(mutex_);
  Fd key_ ASSAY_GUARDED_BY(mutex_);
  uint64_t certificates_ ASSAY_GUARDED_BY(mutex_) = 0;
};

}  // namespace assay::kubeapi
