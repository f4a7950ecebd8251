// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <sys/types.h>

namespace assay::promapi::testing {

/// A real Prometheus on loopback that takes remote writes and scrapes what "targets.json" in its
/// folder names, with its data there too; by TLS where that has "web.yml", and then its certificate
/// is "cert.pem". Started by start(), which returns when it answers; ended
/// with its owner at the latest.
class Prometheus {
 public:
  explicit Prometheus(std::filesystem::path folder);
  Prometheus(const Prometheus&) = delete;
  Prometheus& operator=(const Prometheus&) = delete;
  ~Prometheus() { kill(); }

  /// Always on the same port. False when it does not come up.
  bool start();
  /// As a crash would.
  void kill();

  std::string base() const;
  /// The result of an instant query.
  nlohmann::json query(const std::string& expression) const;

 private:
  void run();
  bool answers() const;
  bool has_tls() const;

  std::filesystem::path folder_;
  int port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace assay::promapi::testing
