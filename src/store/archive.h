// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>
#include <assay/samples/records.h>
#include <assay/samples/series.h>

/// One session as one file, to mail or attach. docs/store-format.md describes it.
namespace assay::store {

/// The name that an archive has inside a session folder.
constexpr std::string_view kArchiveName = "session.assay";
constexpr size_t kMaxArchive = 256U << 20U;

struct ArchivedRun {
  int ordinal = 0;
  std::vector<SeriesInfo> series;
  std::vector<std::string> blocks;
};

struct Archive {
  SessionRecord session;
  std::vector<ArchivedRun> runs;
};

/// Fails when the session is larger than an archive may be.
Result<std::string> write_archive(const Archive& archive);
/// Safe on any bytes; what comes back is whole: every block can be read and names known series.
Result<Archive> read_archive(std::string_view bytes);

}  // namespace assay::store
