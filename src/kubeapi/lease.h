// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::kubeapi {

struct Lease {
  std::string text;  ///< all of it, as the server has it
  std::string version;
  std::string holder;   ///< empty: nobody
  std::string renewed;  ///< when, on the holder's clock
  int64_t transitions = 0;
  Milliseconds duration{};
};

/// What is missing or impossible counts as not told; an error: it is no lease.
Result<Lease> read_lease(std::string_view text);

/// How a lease is held.
struct Hold {
  std::string holder;
  Milliseconds duration;
  Timestamp wall;  ///< the time now, for people to read
};
std::string new_lease(const std::string& name_space, const std::string& name, const Hold& hold);
/// The same lease, held so. Whatever else others wrote into it stays.
std::string held_lease(const Lease& lease, const Hold& hold);

}  // namespace assay::kubeapi
