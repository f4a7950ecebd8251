// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <poll.h>
#include <sys/signalfd.h>

#include <assay/base/files.h>

namespace assay::cli {

/// SIGINT, SIGTERM and SIGHUP do not end the program from here on; whoever works asks whether one
/// came. A write that fails says so instead of ending it.
class Signals {
 public:
  Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    fd_ = Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  bool came() const {
    pollfd waiting = {fd_.get(), POLLIN, 0};
    return ::poll(&waiting, 1, 0) == 1;
  }

 private:
  Fd fd_;
};

}  // namespace assay::cli
