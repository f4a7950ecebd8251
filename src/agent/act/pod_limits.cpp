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
template <class Value>
struct Awaited {
  explicit Awaited(asio::io_context& loop) : timer(loop, asio::steady_timer::time_point::max()) {}
  asio::steady_timer timer;
  std::optional<Value> result;
};

kubeapi::Resize resize_of(const AppIdentity& app) {
  return {.name_space = app.name_space,
          .pod = app.pod,
          .container = app.container,
          .container_id = app.group.id};
}

}  // namespace

PodLimits::PodLimits(kubeapi::Access access, asio::io_context& loop, Tell tell)
    : loop_(loop), tell_(std::move(tell)), client_(std::move(access)) {}

PodLimits::~PodLimits() {
  stopper_.stop();
}

template <class Call>
asio::awaitable<std::invoke_result_t<Call>> PodLimits::in_thread(Call call) {
  const auto awaited = std::make_shared<Awaited<std::invoke_result_t<Call>>>(loop_);
  thread_ = quiet_thread([this, awaited, call = std::move(call)] {
    asio::post(loop_, [awaited, result = call()]() mutable {
      awaited->result = std::move(result);
      awaited->timer.cancel();
    });
  });
  while (!awaited->result) {
    boost::system::error_code woken;
    co_await awaited->timer.async_wait(asio::redirect_error(asio::use_awaitable, woken));
  }
  co_return std::move(*awaited->result);
}

asio::awaitable<Result<kubeapi::Resized>> PodLimits::change(AppIdentity app, LimitChange change) {
  kubeapi::Resize wanted = resize_of(app);
  wanted.cores = change.cores;
  wanted.memory_bytes = change.memory_bytes;
  auto call = [this, wanted] { return client_.resize(wanted, stopper_); };
  auto result = co_await in_thread(std::move(call));
  if (result && !result->taken && std::exchange(told_, result->why_not) != result->why_not)
    tell_(fmt::format("the pod {} is limited by its control group and not by its cluster: {}",
                      app.pod, result->why_not));
  co_return result;
}

asio::awaitable<Result<void>> PodLimits::take_back(AppIdentity app, std::string undo) {
  auto call = [this, done = resize_of(app), undo = std::move(undo)] {
    return client_.resize_back(done, undo, stopper_);
  };
  co_return co_await in_thread(std::move(call));
}

}  // namespace assay::agent
