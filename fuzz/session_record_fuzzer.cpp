// SPDX-License-Identifier: Apache-2.0
// An imported session file is somebody else's JSON.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include <assay/samples/records.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto json = assay::Json::parse(data, data + size, nullptr, false);
  if (json.is_discarded()) return 0;
  if (const auto session = assay::session_from_json(json)) (void)assay::to_json(*session);
  return 0;
}
