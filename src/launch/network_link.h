// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <vector>

#include <assay/base/result.h>
#include <assay/samples/records.h>

/// The network link that an app will have in the field, on a fast machine: the kernel's queues of
/// the app's own network (tbf for a rate alone, netem for delay and loss), set over netlink.
namespace assay::launch {

/// Slows down every interface but loopback in the network of process `pid`. Rate and loss hold for
/// what the app sends and, on this machine's end of its cables (veth), for what it receives, each
/// direction with the full rate; the delay is added once, to what the app sends, so that a round
/// trip takes that much longer. Queues hold 400 ms, as a slow router's do.
///
/// An error where it cannot be done: the app shares this machine's network, has none, or the
/// kernel lacks a queue. The list says what was left as it is: interfaces whose other end is not
/// on this machine are slowed in the sending direction only. All of it goes with the app's network.
Result<std::vector<NotMeasured>> apply_link(pid_t pid, const Link& link);

/// Whether this machine can: tries it in a network that is made for that and then gone.
Result<void> can_apply(const Link& link);

}  // namespace assay::launch
