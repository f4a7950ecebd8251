// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <assay/base/result.h>

namespace assay::placement {

/// Gives one file to whoever has its key, in a thread of its own, until it is destroyed.
class ModelServer {
 public:
  /// `address`: of this machine, as others reach it, with a port or without: "10.0.0.5",
  /// "10.0.0.5:7020".
  static Result<std::unique_ptr<ModelServer>> start(const std::filesystem::path& file,
                                                    const std::string& address);
  ModelServer(const ModelServer&) = delete;
  ModelServer& operator=(const ModelServer&) = delete;
  ~ModelServer();

  const std::string& url() const { return url_; }
  const std::string& key() const { return key_; }

 private:
  struct Running;
  ModelServer();
  std::unique_ptr<Running> running_;
  std::string url_;
  std::string key_;
};

}  // namespace assay::placement
