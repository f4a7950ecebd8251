// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "process/testing.h"

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/mutex.h>
#include <assay/net/http_client.h>

namespace assay::launch::testing {

struct Answer {
  int status = 200;
  std::string body = "{}";
  bool open = false;  ///< the answer does not end: status 0 says nothing at all
  bool last = false;  ///< nobody listens any more before the answer's connection is closed
};

/// A container daemon that says what a test wants, also what a real one says only with bad luck.
/// One request at a time.
class FakeEngine {
 public:
  /// Given "DELETE /containers/x?force=true"; nothing: the connection is closed without an answer.
  using Handler = std::function<std::optional<Answer>(const std::string& request)>;

  explicit FakeEngine(Handler handler);
  FakeEngine(const FakeEngine&) = delete;
  FakeEngine& operator=(const FakeEngine&) = delete;
  ~FakeEngine();

  net::Endpoint endpoint() const;
  /// How many requests so far began with this.
  int asked(const std::string& beginning) const;

 private:
  void serve();

  TempFolder folder_;
  Handler handler_;
  Fd listener_;
  mutable Mutex mutex_;
  std::vector<std::string> requests_ ASSAY_GUARDED_BY(mutex_);
  std::vector<Fd> open_;  ///< connections of answers that do not end
  std::jthread thread_;   // last: it uses all of the above
};

}  // namespace assay::launch::testing
