// SPDX-License-Identifier: Apache-2.0
// A mailed session file is somebody else's: as it came, and with its compression done right, which
// hardly any mutation survives. What is taken for whole must be so when it is written and read
// again.
#include "../src/store/archive.h"
#include "../src/store/packer.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using assay::store::read_archive;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)read_archive(bytes);
  const auto archive = read_archive("ASSAYSES\x01" + assay::store::Packer(1).pack(bytes));
  if (!archive) return 0;
  const auto written = write_archive(*archive);
  if (!written) return 0;  // larger than an archive may be
  const auto again = read_archive(*written);
  if (!again || again->runs.size() != archive->runs.size()) std::abort();
  for (size_t i = 0; i < again->runs.size(); ++i) {
    if (again->runs[i].blocks != archive->runs[i].blocks) std::abort();
    if (again->runs[i].series != archive->runs[i].series) std::abort();
  }
  return 0;
}
