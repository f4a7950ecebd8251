// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "playback/source.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <assay/base/result.h>

namespace assay::launch {

/// An HTTP server for sources, on a thread of its own. Foreign input is bounded: so many
/// connections, so long a request, so much time for it; a client that does not read costs one
/// frame.
class StreamServer {
 public:
  static constexpr size_t kMaxClients = 64;
  static constexpr size_t kMaxRequestBytes = 8192;

  /// The sources outlive it.
  static Result<std::unique_ptr<StreamServer>> listen(const std::string& address,
                                                      std::vector<Source*> sources);
  virtual ~StreamServer() = default;

  /// "127.0.0.1:40001".
  virtual std::string where() const = 0;
  virtual uint64_t refused_clients() const = 0;
  /// Of its thread.
  virtual double cpu_seconds() const = 0;
};

}  // namespace assay::launch
