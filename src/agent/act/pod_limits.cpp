// SPDX-License-Identifier: Apache-2.0
#include "act/pod_limits.h"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <memory>
#include <optional>

#include <assay/base/quiet_thread.h>

namespace assay::agent {

namespace asio = boost::asio;

namespace {

/// What the loop waits for and the thread brings.
struct Awaited {
  explicit Awaited(asio::io_context& loop) : timer(loop, asio::steady_timer::time_point::max()) {}
  asio::steady_timer timer;
  std::optional<Result<kubeapi::Resized>> result;
};

}  // namespace

PodLimits::PodLimits(kubeapi::Access access, asio::io_context& loop, Tell tell)
    : loop_(loop), tell_(std::move(tell)), client_(std::move(access)) {}

PodLimits::~PodLimits() {
  stopper_.stop();
}

asio::awaitable<Result<bool>> PodLimits::change(AppIdentity app, LimitChange change) {
  const auto awaited = std::make_shared<Awaited>(loop_);
  kubeapi::Resize wanted{.name_space = app.name_space,
                         .pod = app.pod,
                         .container = app.container,
                         .cores = change.cores,
                         .memory_bytes = change.memory_bytes};
  thread_ = quiet_thread([this, awaited, wanted = std::move(wanted)] {
    asio::post(loop_, [awaited, result = client_.resize(wanted, stopper_)]() mutable {
      awaited->result = std::move(result);
      awaited->timer.cancel();
    });
  });
  while (!awaited->result) {
    boost::system::error_code woken;
    co_await awaited->timer.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  }
  const auto& result = *awaited->result;
  if (!result) co_return fail(result.error());
  if (!result->taken && std::exchange(told_, result->why_not) != result->why_not)
    tell_(fmt::format("the pod {} is limited by its control group and not by its cluster: {}",
                      app.pod, result->why_not));
  co_return result->taken;
}

}  // namespace assay::agent
