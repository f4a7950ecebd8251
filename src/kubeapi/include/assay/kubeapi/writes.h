// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/kubeapi/client.h>
#include <assay/kubeapi/objects.h>

namespace assay::kubeapi {

/// What an API server makes of a change. All of them happen on ordinary days.
enum class Outcome : uint8_t {
  done,
  gone,       ///< there is no such object, another one has its name, or its kind is not installed
  taken,      ///< somebody else has the name, or the field
  throttled,  ///< the server wants to be left alone for `retry_after`
  forbidden,  ///< the account lacks a right that `why` names
  refused,    ///< it is invalid, or over a quota
};

struct Written {
  Outcome outcome = Outcome::done;
  std::string why = {};  ///< in one sentence; empty when done
  Milliseconds retry_after{};
  ObjectMeta object = {};  ///< as it is now; only when done, and not of a deletion
};

/// The functions below make one request, or a few, with the caller's client and in its thread. An
/// error: there was no answer, or one that says to try later or to log in.

/// `manifest` is JSON. Nothing that is there is changed: a name that has an owner is taken.
Result<Written> create_object(Client& client, const Resource& resource,
                              const std::string& name_space, const std::string& manifest,
                              net::Stopper& stopper);

/// JSON as the server has it; nothing when it is not there or has another uid.
Result<std::optional<std::string>> get_object(Client& client, const ObjectName& object,
                                              net::Stopper& stopper);
Result<std::optional<ObjectMeta>> get_meta(Client& client, const ObjectName& object,
                                           net::Stopper& stopper);

/// What becomes of those that an object owns.
enum class Propagation : uint8_t {
  background,  ///< they go a little later
  foreground,  ///< they go first
  orphan,      ///< they stay
};

/// Only the one with this uid, where it has one.
Result<Written> delete_object(Client& client, const ObjectName& object, Propagation propagation,
                              net::Stopper& stopper);

}  // namespace assay::kubeapi
