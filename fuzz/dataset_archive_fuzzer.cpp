// SPDX-License-Identifier: Apache-2.0
// An archive with a dataset is somebody else's. Whatever is in it, nothing may appear outside the
// folder, no link may lead out of it, and no more may be unpacked than allowed.
#include "../src/launch/dataset/extract.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMaxBytes = 1U << 20U;

/// Gone with the process.
struct Top {
  fs::path path = [] {
    std::string name = (fs::temp_directory_path() / "assay-fuzz-XXXXXX").native();
    return fs::canonical(::mkdtemp(name.data()));
  }();
  Top() = default;
  Top(const Top&) = delete;
  Top& operator=(const Top&) = delete;
  ~Top() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

bool is_inside(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(path, error);
  // A link to itself or to a name that is too long leads nowhere.
  return error || (real.native() + "/").starts_with(folder.native() + "/");
}

void check(const fs::path& folder) {
  uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!is_inside(entry.path(), folder)) std::abort();
    if (entry.is_symlink()) continue;
    if (!entry.is_regular_file() && !entry.is_directory()) std::abort();
    if (entry.is_regular_file() && entry.hard_link_count() == 1) bytes += entry.file_size();
  }
  if (bytes > kMaxBytes) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Top kTop;
  const fs::path folder = kTop.path / "inside";
  fs::create_directory(folder);
  const assay::launch::ExtractRules rules{.max_bytes = kMaxBytes, .max_entries = 100};
  (void)assay::launch::extract_bytes({reinterpret_cast<const char*>(data), size}, folder, rules);
  check(folder);
  fs::remove_all(folder);
  if (!fs::is_empty(kTop.path)) std::abort();
  return 0;
}
