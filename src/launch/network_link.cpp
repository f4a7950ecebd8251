// SPDX-License-Identifier: Apache-2.0
#include "network_link.h"

#include "netlink.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/pkt_sched.h>
#include <sys/stat.h>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/base/time.h>

namespace assay::launch {
namespace {

constexpr double kSlowestBits = 1e3;
constexpr double kFastestBits = 1e12;
constexpr Nanoseconds kLongestDelay = std::chrono::seconds(60);
/// How long a packet may wait in a full queue.
constexpr double kQueueSeconds = 0.4;
/// What may go out at once after a pause: short, so that the rate holds over short times too.
constexpr double kBurstSeconds = 0.01;
constexpr uint32_t kFrameHeader = 18;
constexpr uint32_t kLeastFrames = 10;
/// The kernel's older unit of time, beside nanoseconds.
constexpr int64_t kTickNs = 64;

/// A queue as the kernel takes it.
struct Queue {
  std::string kind;
  std::string options;
};

uint32_t to_u32(double value) {
  return static_cast<uint32_t>(std::clamp(value, 0.0, double{UINT32_MAX}));
}

double bytes_per_second(const Link& link) {
  return *link.rate_bits_per_second / 8;
}

Queue rate_queue(const Link& link, uint32_t mtu) {
  const double frame = mtu + kFrameHeader;
  const double rate = bytes_per_second(link);
  tc_tbf_qopt options{};
  options.rate.rate = to_u32(rate);
  options.rate.linklayer = TC_LINKLAYER_ETHERNET;
  options.limit = to_u32(std::max(rate * kQueueSeconds, frame * kLeastFrames));
  std::string all = attribute(TCA_TBF_PARMS, bytes_of(options));
  all += attribute(TCA_TBF_BURST, bytes_of(to_u32(std::max(rate * kBurstSeconds, frame * 2))));
  all += attribute(TCA_TBF_RATE64, bytes_of(static_cast<uint64_t>(rate)));
  return {"tbf", std::move(all)};
}

/// What is on its way, and what waits for it; in packets, as this queue counts.
uint32_t packets_held(const Link& link, uint32_t mtu) {
  constexpr uint32_t kUsual = 1000;
  if (!link.rate_bits_per_second) return link.delay ? kUsual * 100 : kUsual;
  const double time = kQueueSeconds + seconds(link.delay.value_or(Nanoseconds(0)));
  return std::max(kLeastFrames, to_u32(bytes_per_second(link) * time / (mtu + kFrameHeader)));
}

Queue delay_queue(const Link& link, uint32_t mtu) {
  const int64_t delay = link.delay.value_or(Nanoseconds(0)).count();
  tc_netem_qopt options{};
  options.latency = static_cast<uint32_t>(delay / kTickNs);
  options.limit = packets_held(link, mtu);
  options.loss = to_u32(link.loss_ratio.value_or(0) * double{UINT32_MAX});
  std::string all(bytes_of(options));
  all += attribute(TCA_NETEM_LATENCY64, bytes_of(delay));
  if (link.rate_bits_per_second) {
    tc_netem_rate rate{};
    rate.rate = to_u32(bytes_per_second(link));
    all += attribute(TCA_NETEM_RATE, bytes_of(rate));
    all += attribute(TCA_NETEM_RATE64, bytes_of(static_cast<uint64_t>(bytes_per_second(link))));
  }
  return {"netem", std::move(all)};
}

Result<void> check(const Link& link) {
  if (link.rate_bits_per_second &&
      !(*link.rate_bits_per_second >= kSlowestBits && *link.rate_bits_per_second <= kFastestBits))
    return bad_input("a link's rate must be between 1kbit and 1tbit");
  if (link.delay && (*link.delay < Nanoseconds(0) || *link.delay > kLongestDelay))
    return bad_input("a link's delay must be at most 60s");
  if (link.loss_ratio && !(*link.loss_ratio >= 0 && *link.loss_ratio <= 1))
    return bad_input("a link's loss must be between 0% and 100%");
  return {};
}

Failure cannot(const std::string& kind, const Link& link, int error) {
  if (error == ENOENT && kind == "netem") {
    return refused(fmt::format(
        "this kernel cannot {}: it has no netem (module sch_netem); load it with: modprobe "
        "sch_netem, or give only a rate",
        link.delay ? "delay packets" : "lose packets"));
  }
  if (error == ENOENT)
    return refused("this kernel cannot limit a network's rate: it has no tbf (module sch_tbf)");
  if (error == EPERM) return refused("limiting a network needs root (the capability NET_ADMIN)");
  return refused_errno("cannot limit the app's network", error);
}

Result<void> set(Netlink& network, const Interface& interface, const Link& link) {
  if (link.empty()) return {};
  const bool rate_only = !link.delay && !link.loss_ratio;
  const Queue queue =
      rate_only ? rate_queue(link, interface.mtu) : delay_queue(link, interface.mtu);
  const int error = network.set_queue(interface.index, queue.kind, queue.options);
  if (error != 0) return cannot(queue.kind, link, error);
  return {};
}

/// The app's network, when it is one of its own.
Result<Fd> network_of(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/ns/net", pid);
  Fd network(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!network.valid()) return refused_errno("cannot find the app's network", errno);
  struct stat its {};
  struct stat ours {};
  if (::fstat(network.get(), &its) != 0 || ::stat("/proc/thread-self/ns/net", &ours) != 0)
    return refused_errno("cannot find the app's network", errno);
  if (its.st_ino == ours.st_ino && its.st_dev == ours.st_dev) {
    return refused(
        "the app shares this machine's network, which is not slowed down for it; run it as a "
        "container with a network of its own, or leave out network");
  }
  return network;
}

std::vector<Interface> leading_outside(const std::vector<Interface>& all) {
  std::vector<Interface> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some),
               [](const Interface& one) { return one.up && !one.loopback; });
  return some;
}

/// This machine's ends of the app's cables.
class NearEnds {
 public:
  static Result<NearEnds> find(int app_network) {
    ASSAY_TRY(auto network, Netlink::open());
    ASSAY_TRY(auto interfaces, network.interfaces());
    ASSAY_TRY(const auto number, network.number_of(app_network));
    return NearEnds(std::move(network), std::move(interfaces), number);
  }

  /// False when there is none.
  Result<bool> set_opposite(const Interface& far, const Link& link) {
    for (const auto& near : interfaces_) {
      if (!number_ || near.other_network != number_ || near.other_end != far.index) continue;
      ASSAY_CHECK(set(network_, near, link));
      return true;
    }
    return false;
  }

 private:
  NearEnds(Netlink network, std::vector<Interface> interfaces, std::optional<int> number)
      : network_(std::move(network)), interfaces_(std::move(interfaces)), number_(number) {}

  Netlink network_;
  std::vector<Interface> interfaces_;
  std::optional<int> number_;
};

}  // namespace

Result<std::vector<NotMeasured>> apply_link(pid_t pid, const Link& link) {
  std::vector<NotMeasured> left;
  if (link.empty()) return left;
  ASSAY_CHECK(check(link));
  ASSAY_TRY(const Fd app_network, network_of(pid));
  ASSAY_TRY(auto app, Netlink::open_in(app_network.get()));
  ASSAY_TRY(const auto all, app.interfaces());
  const auto interfaces = leading_outside(all);
  if (interfaces.empty())
    return refused("the app has no network that could be slowed down; leave out network");
  ASSAY_TRY(auto near_ends, NearEnds::find(app_network.get()));
  Link receiving = link;
  receiving.delay.reset();
  for (const auto& interface : interfaces) {
    ASSAY_CHECK(set(app, interface, link));
    ASSAY_TRY(const bool both, near_ends.set_opposite(interface, receiving));
    if (both || receiving.empty()) continue;
    left.push_back({"network link of what the app receives",
                    fmt::format("the other end of {} is not an interface of this machine's network",
                                interface.name)});
  }
  return left;
}

Result<void> can_apply(const Link& link) {
  if (link.empty()) return {};
  ASSAY_CHECK(check(link));
  ASSAY_TRY(auto network, Netlink::open_in_new());
  ASSAY_TRY(const auto interfaces, network.interfaces());
  for (const auto& interface : interfaces) {
    if (interface.loopback) return set(network, interface, link);
  }
  return refused("cannot try a network link: a new network has no loopback");
}

}  // namespace assay::launch
