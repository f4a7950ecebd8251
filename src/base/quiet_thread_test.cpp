// SPDX-License-Identifier: Apache-2.0
#include <assay/base/quiet_thread.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

bool blocks(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

TEST(QuietThread, blocks_signals_and_leaves_those_of_its_maker_alone) {
  bool in_thread = false;
  quiet_thread([&] { in_thread = blocks(SIGTERM) && blocks(SIGHUP); }).join();
  EXPECT_TRUE(in_thread);
  EXPECT_FALSE(blocks(SIGTERM));
}

}  // namespace
}  // namespace assay
