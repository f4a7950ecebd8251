// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "process/wire.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <assay/base/result.h>
#include <assay/samples/records.h>

namespace assay::launch {

/// "SIGSEGV"; "signal 40" where it has no name.
std::string signal_name(int signal);

/// Fills code, signal and core_dumped from waitid's si_code and si_status.
void set_status(Exit& exit, int how, int status);

/// How it ended, in plain words; `memory_limit` is named when that is what ended it.
std::string exit_detail(const Exit& exit, std::optional<uint64_t> memory_limit);

/// What a user should know about a start that failed.
Failure start_failure(const StartOrder& order, Stage stage, int error);

}  // namespace assay::launch
