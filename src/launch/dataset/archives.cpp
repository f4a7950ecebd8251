// SPDX-License-Identifier: Apache-2.0
#include "dataset/archives.h"

#include <assay/base/late_library.h>

namespace assay::launch {
namespace {

Archives load() {
  Archives found;
  LateLibrary library("libarchive.so.13");
  library.find(found.entry_filetype, "archive_entry_filetype");
  library.find(found.entry_hardlink, "archive_entry_hardlink");
  library.find(found.entry_hardlink_utf8, "archive_entry_hardlink_utf8");
  library.find(found.entry_pathname, "archive_entry_pathname");
  library.find(found.entry_pathname_utf8, "archive_entry_pathname_utf8");
  library.find(found.entry_perm, "archive_entry_perm");
  library.find(found.entry_symlink, "archive_entry_symlink");
  library.find(found.entry_symlink_utf8, "archive_entry_symlink_utf8");
  library.find(found.error_string, "archive_error_string");
  library.find(found.read_data_block, "archive_read_data_block");
  library.find(found.read_free, "archive_read_free");
  library.find(found.read_new, "archive_read_new");
  library.find(found.read_next_header, "archive_read_next_header");
  library.find(found.read_open_filename, "archive_read_open_filename");
  library.find(found.read_open_memory, "archive_read_open_memory");
  library.find(found.read_support_filter_gzip, "archive_read_support_filter_gzip");
  library.find(found.read_support_filter_xz, "archive_read_support_filter_xz");
  library.find(found.read_support_filter_zstd, "archive_read_support_filter_zstd");
  library.find(found.read_support_format_tar, "archive_read_support_format_tar");
  library.find(found.read_support_format_zip, "archive_read_support_format_zip");
  found.loaded = library.loaded();
  return found;
}

}  // namespace

const Archives& archives() {
  static const Archives kLoaded = load();
  return kLoaded;
}

}  // namespace assay::launch
