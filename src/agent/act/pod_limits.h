// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control.h"
#include "live_app.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>  // before Asio, which forgets it

#include <assay/agent/agent.h>
#include <assay/kubeapi/client.h>

namespace assay::agent {

/// Changes the limits of pods through their cluster. One change at a time; a thread waits for the
/// cluster meanwhile, the loop does not.
class PodLimits {
 public:
  PodLimits(kubeapi::Access access, boost::asio::io_context& loop, Tell tell);
  PodLimits(const PodLimits&) = delete;
  PodLimits& operator=(const PodLimits&) = delete;
  ~PodLimits();

  /// Not taken: the cluster cannot, or not for this one, which is told when the reason is a new
  /// one.
  boost::asio::awaitable<Result<kubeapi::Resized>> change(AppIdentity app, LimitChange change);
  /// Sets the spec as it was before a change that was taken.
  boost::asio::awaitable<Result<void>> take_back(AppIdentity app, std::string undo);

 private:
  template <class Call>
  boost::asio::awaitable<std::invoke_result_t<Call>> in_thread(Call call);

  boost::asio::io_context& loop_;
  Tell tell_;
  kubeapi::Client client_;
  net::Stopper stopper_;
  std::string told_;     ///< why it could not
  std::jthread thread_;  ///< last: it uses all of the above
};

}  // namespace assay::agent
