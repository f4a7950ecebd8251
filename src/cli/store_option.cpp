// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

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

}  // namespace assay::cli
