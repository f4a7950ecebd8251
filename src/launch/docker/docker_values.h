// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docker_args.h"

#include <string>
#include <string_view>

/// One reader per kind of value of a `docker run` option. An error is the reason alone; the caller
/// says of which option.
namespace assay::launch {

/// `-v [SOURCE:]TARGET[:OPTIONS]`.
Result<Mount> parse_volume(const std::string& text);
/// `--mount type=bind,source=...,target=...`.
Result<Mount> parse_mount(const std::string& text);
/// `--device SOURCE[:TARGET][:PERMISSIONS]`.
Result<DeviceArg> parse_device(const std::string& text);
/// `--gpus`: "all", "2" or "device=0,1", without quotes.
Result<std::string> parse_gpus(const std::string& text);
/// `--ulimit NAME=SOFT[:HARD]`.
Result<UlimitArg> parse_ulimit(const std::string& text);
/// "cap_sys_ptrace" as "SYS_PTRACE".
std::string capability_name(std::string_view text);

/// Foreign text for a message: in quotes, shortened, without control characters.
std::string in_quotes(std::string_view text);
bool has_control_characters(std::string_view text);

}  // namespace assay::launch
