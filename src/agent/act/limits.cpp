// SPDX-License-Identifier: Apache-2.0
#include "act/limits.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <assay/net/async_call.h>

namespace assay::agent {

namespace asio = boost::asio;
using asio::awaitable;

namespace {

using nlohmann::json;

constexpr int64_t kPeriodUs = 100'000;
constexpr auto kPatience = Milliseconds(10000);
constexpr auto kLook = Milliseconds(200);

int64_t quota_of(double cores) {
  return cores > 0 ? std::llround(cores * static_cast<double>(kPeriodUs)) : -1;
}

void set_cores(json& body, const json& host, double cores) {
  const auto nano = host.find("NanoCpus");
  if (nano != host.end() && nano->is_number() && *nano > 0 && cores > 0) {
    body["NanoCpus"] = std::llround(cores * 1e9);
    return;
  }
  body["CpuPeriod"] = kPeriodUs;
  body["CpuQuota"] = quota_of(cores);
}

/// Docker refuses a limit of memory above that of memory and swap together, so both go.
void set_memory(json& body, uint64_t bytes, const probes::GroupLimits& now) {
  body["Memory"] = bytes > 0 ? static_cast<int64_t>(bytes) : -1;
  const double swap = now.swap && now.memory ? std::max(0.0, *now.swap - *now.memory) : 0;
  const bool open = bytes == 0 || !now.swap;
  body["MemorySwap"] = open ? -1 : static_cast<int64_t>(static_cast<double>(bytes) + swap);
}

Result<void> write_value(const SysRoot& root, const std::string& folder, const char* name,
                         const std::string& value) {
  const std::string file = root.path(folder + "/" + name).native();
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.valid() && ::write(fd.get(), value.data(), value.size()) >= 0) return {};
  return refused(fmt::format("cannot write {} to {}: {}", value, file, std::strerror(errno)));
}

/// As near as clusters and kernels count: systemd rounds to 0.01 cores, memory is counted in pages.
bool is_so(const probes::GroupLimits& limits, const LimitChange& change) {
  constexpr double kCores = 0.0105;
  constexpr double kLargestPage = 65536;
  const auto near = [](std::optional<double> is, double wanted, double by) {
    return is && std::abs(*is - wanted) <= by;
  };
  if (change.cores && !near(limits.cores(), *change.cores, kCores)) return false;
  return !change.memory_bytes ||
         near(limits.memory, static_cast<double>(*change.memory_bytes), kLargestPage);
}

/// Until the node has done what its cluster has taken; false when it does not.
awaitable<bool> carried_out(Means means, probes::CgroupPaths group, LimitChange change) {
  const probes::GroupReader reader(means.root, std::move(group));
  asio::steady_timer timer(co_await asio::this_coro::executor);
  const auto end = std::chrono::steady_clock::now() + means.node_patience;
  while (!is_so(reader.limits(), change)) {
    if (means.hurries != nullptr && *means.hurries) co_return true;
    if (std::chrono::steady_clock::now() >= end) co_return false;
    timer.expires_after(kLook);
    co_await timer.async_wait(asio::use_awaitable);
  }
  co_return true;
}

/// Nothing: the cluster cannot. A node that has no room leaves a change for later: we take it back
/// instead, so that it does not come when nobody counts on it.
awaitable<std::optional<Result<void>>> change_by_cluster(Means means, AppIdentity app,
                                                         probes::CgroupPaths group,
                                                         LimitChange change) {
  const auto resized = co_await means.pods->change(app, change);
  if (!resized) co_return Result<void>(fail(resized.error()));
  if (!resized->taken) co_return std::nullopt;
  const bool done = means.restores || co_await carried_out(means, std::move(group), change);
  if (done) co_return Result<void>();
  const auto back = co_await means.pods->take_back(std::move(app), resized->undo);
  if (back) co_return refused("the cluster took it, but its node did not carry it out");
  co_return fail({ErrorKind::environment,
                  "the cluster took it, its node did not carry it out, and the pod's spec could "
                  "not be set back: " +
                      back.error().message,
                  true});
}

std::string message_of(const net::ShortAnswer& answer) {
  const json body = json::parse(answer.body, nullptr, false);
  if (body.is_object() && body.contains("message") && body["message"].is_string())
    return body["message"];
  return fmt::format("it answered {}", answer.status);
}

/// By Docker where it runs the container, else through its files.
awaitable<Result<void>> change_container(Means means, AppIdentity app, probes::CgroupPaths group,
                                         probes::GroupLimits now, LimitChange change) {
  if (app.group.kind == GroupKind::container && !means.docker.empty()) {
    const std::string at = "/containers/" + app.group.id;
    const auto inspected = co_await net::async_get(means.docker, at + "/json", kPatience);
    const std::string body =
        inspected.status == 200 ? docker_update(inspected.body, change, now) : "";
    // Docker would set its own limit again, so that it has to be the one who changes it.
    const bool is_dockers = inspected.status != 404 && std::filesystem::exists(means.docker);
    if (body.empty() && is_dockers) co_return refused("Docker does not answer: try again later");
    if (is_dockers) {
      // Named, since g++ 12 frees a temporary of an awaited call twice.
      net::ShortCall update{.method = "POST", .path = at + "/update", .body = body};
      const auto answer = co_await net::async_call(means.docker, std::move(update), kPatience);
      if (answer.status == 200) co_return Result<void>();
      co_return refused("Docker did not change the limit: " + message_of(answer));
    }
  }
  co_return write_limits(means.root, group, change);
}

/// The same in each hierarchy, with `change` made to the folder's name.
template <class Change>
probes::CgroupPaths with_folders(const probes::CgroupPaths& group, Change change) {
  probes::CgroupPaths other;
  other.unified = group.unified;
  if (!group.v2.empty()) other.v2 = change(group.v2);
  if (!group.cpu.empty()) other.cpu = change(group.cpu);
  if (!group.memory.empty()) other.memory = change(group.memory);
  return other;
}

std::string parent_of(const std::string& folder) {
  return std::filesystem::path(folder).parent_path().native();
}

/// What the other containers of the pod may use together.
LimitChange of_siblings(const SysRoot& root, const probes::CgroupPaths& pod,
                        const std::string& own_name) {
  LimitChange sum{.cores = 0, .memory_bytes = 0};
  for (const auto& name : root.list(pod.unified ? pod.v2 : pod.cpu)) {
    if (name == own_name) continue;
    const auto paths =
        with_folders(pod, [&](const std::string& folder) { return folder + "/" + name; });
    const auto limits = probes::GroupReader(root, paths).limits();
    *sum.cores += limits.cores().value_or(0);
    *sum.memory_bytes += static_cast<uint64_t>(limits.memory.value_or(0));
  }
  return sum;
}

/// A pod's group has to have room for its containers: in v1 they cannot get more than it has. It is
/// never made smaller, since a container that is started anew has the limit of the spec.
Result<void> make_room_in_pod(const SysRoot& root, const probes::CgroupPaths& group,
                              const LimitChange& change) {
  const probes::CgroupPaths pod = with_folders(group, parent_of);
  const auto now = probes::GroupReader(root, pod).limits();
  const auto name = std::filesystem::path(group.unified ? group.v2 : group.cpu).filename();
  const LimitChange others = of_siblings(root, pod, name.native());
  LimitChange needed;
  if (change.cores && now.cores() && *now.cores() < *others.cores + *change.cores)
    needed.cores = *others.cores + *change.cores;
  if (change.memory_bytes && now.memory &&
      *now.memory < static_cast<double>(*others.memory_bytes + *change.memory_bytes))
    needed.memory_bytes = *others.memory_bytes + *change.memory_bytes;
  return write_limits(root, pod, needed);
}

}  // namespace

std::string docker_update(std::string_view inspected, const LimitChange& change,
                          const probes::GroupLimits& now) {
  const json document = json::parse(inspected, nullptr, false);
  if (!document.is_object() || !document.contains("HostConfig")) return {};
  const json& host = document["HostConfig"];
  if (!host.is_object()) return {};
  json body = json::object();
  if (change.cores) set_cores(body, host, *change.cores);
  if (change.memory_bytes) set_memory(body, *change.memory_bytes, now);
  return body.dump();
}

Result<void> write_limits(const SysRoot& root, const probes::CgroupPaths& group,
                          const LimitChange& change) {
  if (change.cores) {
    const int64_t quota = quota_of(*change.cores);
    if (group.unified) {
      const std::string text = quota < 0 ? "max" : fmt::to_string(quota);
      ASSAY_CHECK(write_value(root, group.v2, "cpu.max", fmt::format("{} {}", text, kPeriodUs)));
    } else {
      ASSAY_CHECK(write_value(root, group.cpu, "cpu.cfs_period_us", fmt::to_string(kPeriodUs)));
      ASSAY_CHECK(write_value(root, group.cpu, "cpu.cfs_quota_us", fmt::to_string(quota)));
    }
  }
  if (change.memory_bytes) {
    const bool none = *change.memory_bytes == 0;
    const std::string value = fmt::to_string(*change.memory_bytes);
    if (group.unified) return write_value(root, group.v2, "memory.max", none ? "max" : value);
    return write_value(root, group.memory, "memory.limit_in_bytes", none ? "-1" : value);
  }
  return {};
}

awaitable<Result<void>> change_limits(Means means, AppIdentity app, probes::CgroupPaths group,
                                      probes::GroupLimits now, LimitChange change) {
  if (!app.group.pod_uid.empty()) {
    if (means.pods != nullptr) {
      if (app.pod.empty() || app.container.empty())
        co_return refused("its pod is not known yet: try again later");
      auto made = co_await change_by_cluster(means, app, group, change);
      if (made) co_return std::move(*made);
    }
    const auto room = make_room_in_pod(means.root, group, change);
    if (!room) co_return room;
  }
  co_return co_await change_container(means, std::move(app), std::move(group), now, change);
}

}  // namespace assay::agent
