// SPDX-License-Identifier: Apache-2.0
// page_sample FOLDER: writes the sample session's page and document there, for tests and to look
// at.
#include "sample_views.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include <assay/base/files.h>

namespace {

using assay::report::SessionView;

assay::Result<void> write_samples(const std::filesystem::path& folder) {
  const auto write = [&](const char* name, const SessionView& view) -> assay::Result<void> {
    ASSAY_TRY(const std::string page, assay::report::html_page(view));
    ASSAY_CHECK(assay::write_file(folder / (std::string(name) + ".html"), page));
    return assay::write_file(folder / (std::string(name) + ".json"),
                             assay::report::session_document(view).dump(2));
  };
  ASSAY_CHECK(write("two_targets", assay::report::testing::page_view()));
  ASSAY_CHECK(write("failed", assay::report::testing::failed_view()));
  return write("one_run", assay::report::testing::small_view());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: page_sample FOLDER\n", stderr);
    return 2;
  }
  std::error_code ignored;
  std::filesystem::create_directories(argv[1], ignored);
  if (const auto written = write_samples(argv[1]); !written) {
    std::fprintf(stderr, "page_sample: %s\n", written.error().message.c_str());
    return 4;
  }
  return 0;
}
