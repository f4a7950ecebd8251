// SPDX-License-Identifier: Apache-2.0
// The launcher runs this executable again as its keeper, and tests run it as a second `assay`.
#include "process/testing.h"

#include <cstdlib>
#include <string_view>

#include <assay/launch/launcher.h>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  const std::string_view command = argc > 2 ? argv[1] : "";
  if (command == "keeper") return assay::launch::keeper_main(std::atoi(argv[2]));
  if (command == "owner" && argc > 3) return assay::launch::testing::owner_main(argv[2], argv[3]);
  if (command == "tell-signals") return assay::launch::testing::tell_signals_main(argv[2]);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
