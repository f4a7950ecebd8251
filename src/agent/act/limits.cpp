// SPDX-License-Identifier: Apache-2.0
#include "act/limits.h"

#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <assay/net/async_call.h>

namespace assay::agent {
namespace {

using nlohmann::json;

constexpr int64_t kPeriodUs = 100'000;
constexpr auto kPatience = Milliseconds(10000);

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

std::string message_of(const net::ShortAnswer& answer) {
  const json body = json::parse(answer.body, nullptr, false);
  if (body.is_object() && body.contains("message") && body["message"].is_string())
    return body["message"];
  return fmt::format("it answered {}", answer.status);
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

boost::asio::awaitable<Result<void>> change_limits(SysRoot root, std::filesystem::path docker,
                                                   AppIdentity app, probes::CgroupPaths group,
                                                   probes::GroupLimits now, LimitChange change) {
  if (app.group.kind == GroupKind::container && !docker.empty()) {
    const std::string at = "/containers/" + app.group.id;
    const auto inspected = co_await net::async_get(docker, at + "/json", kPatience);
    const std::string body =
        inspected.status == 200 ? docker_update(inspected.body, change, now) : "";
    // Docker would set its own limit again, so that it has to be the one who changes it.
    const bool is_dockers = inspected.status != 404 && std::filesystem::exists(docker);
    if (body.empty() && is_dockers) co_return refused("Docker does not answer: try again later");
    if (is_dockers) {
      // Named, since g++ 12 frees a temporary of an awaited call twice.
      net::ShortCall update{.method = "POST", .path = at + "/update", .body = body};
      const auto answer = co_await net::async_call(docker, std::move(update), kPatience);
      if (answer.status == 200) co_return Result<void>();
      co_return refused("Docker did not change the limit: " + message_of(answer));
    }
  }
  co_return write_limits(root, group, change);
}

}  // namespace assay::agent
