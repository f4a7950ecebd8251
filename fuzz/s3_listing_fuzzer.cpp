// SPDX-License-Identifier: Apache-2.0
// What an object store answers. What is taken for a listing has only objects with a name.
#include "../src/launch/dataset/s3_listing.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view xml(reinterpret_cast<const char*>(data), size);
  (void)assay::launch::s3_error_code(xml);
  const auto page = assay::launch::parse_s3_page(xml);
  if (!page) return 0;
  for (const auto& object : page->objects)
    if (object.key.empty()) std::abort();
  return 0;
}
