// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <assay/kubeapi/writes.h>

namespace assay::kubeapi {

using Annotations = std::map<std::string, std::string>;

struct AnnotationOptions {
  std::string manager = "assay";  ///< in whose name the server keeps our keys
  bool force = false;             ///< also keys that somebody else has set are made ours
  bool leave_taken = false;       ///< the others are written without those; `why` names them
  bool apply = true;              ///< else by merge patches from the beginning
  int tries = 4;                  ///< while others change the object at the same moment
};

/// Makes an object's annotations of ours exactly those given, and touches no others. By server-side
/// apply: one request tells the whole wish, keys that we no longer name go, and a key of somebody
/// else is found out instead of fought over. Servers that cannot (415) get a merge patch of what
/// was read before, with the books that the server keeps of managers. One thread at a time; the
/// client has to live longer.
class AnnotationWriter {
 public:
  explicit AnnotationWriter(Client& client, AnnotationOptions options = {});

  /// The object needs its uid: an apply to an object that is gone would make a new one.
  Result<Written> write(const ObjectName& object, const Annotations& annotations,
                        net::Stopper& stopper);
  /// Takes away all that was ever written in the manager's name, in either way.
  Result<Written> clean(const ObjectName& object, net::Stopper& stopper);

 private:
  Result<Written> apply(const ObjectName& object, const Annotations& annotations,
                        net::Stopper& stopper);
  Result<net::Response> send_apply(const ObjectName& object, const Annotations& annotations,
                                   bool force, net::Stopper& stopper);
  Result<Written> not_applied(const ObjectName& object, const net::Response& response,
                              net::Stopper& stopper);
  Result<Written> undo_creation(const ObjectName& object, const std::string& created,
                                net::Stopper& stopper);
  Result<Written> merge(const ObjectName& object, const Annotations& annotations,
                        net::Stopper& stopper);
  Result<net::Response> send_merge(const ObjectName& object, const std::string& body,
                                   net::Stopper& stopper);

  Client& client_;
  const AnnotationOptions options_;
  bool can_apply_;
};

}  // namespace assay::kubeapi
