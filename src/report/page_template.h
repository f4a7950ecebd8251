// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

/// The page without its data, made from web/ at build time, in pieces of a size compilers accept.
namespace assay::report {

std::span<const std::string_view> page_before_data();
std::span<const std::string_view> page_after_data();

}  // namespace assay::report
