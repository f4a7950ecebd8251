// SPDX-License-Identifier: Apache-2.0
#include "netlink.h"

#include <cerrno>
#include <linux/net_namespace.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <thread>

namespace assay::launch {
namespace {

constexpr size_t kAnswerBytes = 64U << 10U;

size_t padded(size_t size) {
  return (size + 3) & ~size_t{3};
}

template <class T>
T value_of(std::string_view bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

/// Calls `take` for each attribute.
template <class Take>
void each_attribute(std::string_view bytes, const Take& take) {
  while (bytes.size() >= sizeof(nlattr)) {
    const auto head = value_of<nlattr>(bytes);
    if (head.nla_len < sizeof head || head.nla_len > bytes.size()) return;
    take(head.nla_type & NLA_TYPE_MASK, bytes.substr(sizeof head, head.nla_len - sizeof head));
    bytes.remove_prefix(std::min(bytes.size(), padded(head.nla_len)));
  }
}

Interface read_interface(std::string_view body) {
  const auto head = value_of<ifinfomsg>(body);
  Interface found;
  found.index = head.ifi_index;
  found.loopback = (head.ifi_flags & IFF_LOOPBACK) != 0;
  found.up = (head.ifi_flags & IFF_UP) != 0;
  if (body.size() < sizeof head) return found;
  each_attribute(body.substr(sizeof head), [&](int type, std::string_view value) {
    if (type == IFLA_IFNAME) found.name = value.substr(0, value.find('\0'));
    if (type == IFLA_MTU) found.mtu = value_of<uint32_t>(value);
    if (type == IFLA_LINK) found.other_end = value_of<int32_t>(value);
    if (type == IFLA_LINK_NETNSID) found.other_network = value_of<int32_t>(value);
  });
  return found;
}

Fd new_socket() {
  return Fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
}

/// A socket made by a thread that has gone to another network; the caller stays where it is.
template <class Go>
Fd socket_after(const Go& go, int& error) {
  Fd socket;
  std::thread([&] {
    if (go() == 0) socket = new_socket();
    if (!socket.valid()) error = errno;
  }).join();
  return socket;
}

}  // namespace

std::string attribute(uint16_t type, std::string_view value) {
  nlattr head{};
  head.nla_type = type;
  head.nla_len = static_cast<uint16_t>(sizeof head + value.size());
  std::string bytes(bytes_of(head));
  bytes += value;
  bytes.resize(padded(bytes.size()));
  return bytes;
}

Result<Netlink> Netlink::open() {
  Fd socket = new_socket();
  if (!socket.valid()) return refused_errno("cannot talk to the kernel about networks", errno);
  return Netlink(std::move(socket));
}

Result<Netlink> Netlink::open_in(int namespace_fd) {
  int error = 0;
  Fd socket = socket_after([&] { return ::setns(namespace_fd, CLONE_NEWNET); }, error);
  if (!socket.valid())
    return refused_errno("cannot enter the app's network (only root may)", error);
  return Netlink(std::move(socket));
}

Result<Netlink> Netlink::open_in_new() {
  int error = 0;
  Fd socket = socket_after([] { return ::unshare(CLONE_NEWNET); }, error);
  if (!socket.valid())
    return refused_errno("cannot make a network to try it in (only root may)", error);
  return Netlink(std::move(socket));
}

int Netlink::ask(uint16_t type, uint16_t flags, std::string_view body,
                 const std::function<void(uint16_t, std::string_view)>& take) {
  nlmsghdr head{};
  head.nlmsg_len = static_cast<uint32_t>(sizeof head + body.size());
  head.nlmsg_type = type;
  head.nlmsg_flags = static_cast<uint16_t>(flags | NLM_F_REQUEST | NLM_F_ACK);
  head.nlmsg_seq = ++sequence_;
  const std::string request = std::string(bytes_of(head)) + std::string(body);
  if (::send(socket_.get(), request.data(), request.size(), 0) < 0) return errno;
  std::string buffer(kAnswerBytes, '\0');
  while (true) {
    const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno;
    std::string_view rest(buffer.data(), static_cast<size_t>(size));
    while (rest.size() >= sizeof(nlmsghdr)) {
      const auto answer = value_of<nlmsghdr>(rest);
      if (answer.nlmsg_len < sizeof answer || answer.nlmsg_len > rest.size()) return EPROTO;
      const auto content = rest.substr(sizeof answer, answer.nlmsg_len - sizeof answer);
      rest.remove_prefix(std::min(rest.size(), padded(answer.nlmsg_len)));
      if (answer.nlmsg_type == NLMSG_ERROR || answer.nlmsg_type == NLMSG_DONE)
        return -value_of<int>(content);
      take(answer.nlmsg_type, content);
    }
  }
}

Result<std::vector<Interface>> Netlink::interfaces() {
  std::vector<Interface> found;
  const int error = ask(RTM_GETLINK, NLM_F_DUMP, bytes_of(ifinfomsg{}),
                        [&](uint16_t type, std::string_view body) {
                          if (type == RTM_NEWLINK) found.push_back(read_interface(body));
                        });
  if (error != 0) return refused_errno("cannot list network interfaces", error);
  return found;
}

Result<std::optional<int>> Netlink::number_of(int namespace_fd) {
  std::string body(padded(sizeof(rtgenmsg)), '\0');
  body += attribute(NETNSA_FD, bytes_of(static_cast<uint32_t>(namespace_fd)));
  std::optional<int> number;
  const int error = ask(RTM_GETNSID, 0, body, [&](uint16_t, std::string_view answer) {
    if (answer.size() < padded(sizeof(rtgenmsg))) return;
    each_attribute(answer.substr(padded(sizeof(rtgenmsg))), [&](int type, std::string_view value) {
      if (type == NETNSA_NSID && value_of<int32_t>(value) >= 0) number = value_of<int32_t>(value);
    });
  });
  if (error != 0) return refused_errno("cannot tell where the app's network is", error);
  return number;
}

int Netlink::set_queue(int interface, std::string_view kind, std::string_view options) {
  tcmsg head{};
  head.tcm_family = AF_UNSPEC;
  head.tcm_ifindex = interface;
  head.tcm_parent = TC_H_ROOT;
  std::string body(bytes_of(head));
  body += attribute(TCA_KIND, std::string(kind) + '\0');
  body += attribute(TCA_OPTIONS, options);
  return ask(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, body, [](uint16_t, std::string_view) {});
}

}  // namespace assay::launch
