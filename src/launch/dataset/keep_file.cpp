// SPDX-License-Identifier: Apache-2.0
#include "dataset/keep_file.h"

#include "dataset/extract.h"

#include <fmt/format.h>

namespace assay::launch {
namespace fs = std::filesystem;
namespace {

/// What an earlier try may have unpacked goes first, and what this one has when it fails.
Result<void> unpack(const WorkFolder& work, const fs::path& archive, const ExtractRules& rules) {
  std::error_code error;
  fs::remove_all(work.entry(), error);
  fs::create_directories(work.content(), error);
  auto unpacked = extract(archive, work.content(), rules);
  if (unpacked) return {};
  fs::remove_all(work.entry(), error);
  return unpacked;
}

}  // namespace

Result<Dataset> keep_file(const Cache& cache, const WorkFolder& work, const std::string& key,
                          const fs::path& file, const std::string& name, Kept kept,
                          const Progress& progress) {
  if (is_archive_name(name)) {
    const ExtractRules rules{
        .max_bytes = cache.max_bytes(),
        .go_on = [&](uint64_t done) { return progress(done, std::nullopt); },
    };
    if (auto unpacked = unpack(work, file, rules); !unpacked) {
      Error error = unpacked.error();
      error.message = fmt::format("{}: {}", kept.source, error.message);
      return fail(std::move(error));
    }
  } else {
    std::error_code error;
    fs::create_directories(work.content(), error);
    fs::rename(file, work.content() / name, error);
    if (error) return refused(fmt::format("cannot make {}: {}", name, error.message()));
    kept.name = name;
  }
  ASSAY_TRY(Dataset dataset, cache.keep(work, key, kept));
  cache.evict(0);
  return dataset;
}

}  // namespace assay::launch
