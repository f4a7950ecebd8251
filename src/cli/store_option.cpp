// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

#include <fmt/format.h>

#include <assay/store/store.h>

namespace assay::cli {

void add_store_option(CLI::App& command, Context& context) {
  // No envname here: default_store_path() has read ASSAY_STORE, and CLI11 would let the variable of
  // a command that was not chosen win over this option.
  command
      .add_option("--store", context.store,
                  "History file (default: ASSAY_STORE, else the XDG data folder)")
      ->type_name("FILE")
      ->group("History");
}

Result<void> check_named_store(const Context& context) {
  std::error_code error;
  if (context.store == store::default_store_path() || std::filesystem::exists(context.store, error))
    return {};
  return bad_input(
      fmt::format("there is no history {}: `assay run` and `assay cluster profile` "
                  "make one; without --store it is {}",
                  context.store.native(), store::default_store_path().native()));
}

}  // namespace assay::cli
