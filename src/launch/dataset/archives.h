// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <assay/base/result.h>

namespace assay::launch {

/// libarchive, loaded at the first use.
struct Archives {
  decltype(&::archive_entry_filetype) entry_filetype = nullptr;
  decltype(&::archive_entry_hardlink) entry_hardlink = nullptr;
  decltype(&::archive_entry_hardlink_utf8) entry_hardlink_utf8 = nullptr;
  decltype(&::archive_entry_pathname) entry_pathname = nullptr;
  decltype(&::archive_entry_pathname_utf8) entry_pathname_utf8 = nullptr;
  decltype(&::archive_entry_perm) entry_perm = nullptr;
  decltype(&::archive_entry_symlink) entry_symlink = nullptr;
  decltype(&::archive_entry_symlink_utf8) entry_symlink_utf8 = nullptr;
  decltype(&::archive_error_string) error_string = nullptr;
  decltype(&::archive_read_data_block) read_data_block = nullptr;
  decltype(&::archive_read_free) read_free = nullptr;
  decltype(&::archive_read_new) read_new = nullptr;
  decltype(&::archive_read_next_header) read_next_header = nullptr;
  decltype(&::archive_read_open_filename) read_open_filename = nullptr;
  decltype(&::archive_read_open_memory) read_open_memory = nullptr;
  decltype(&::archive_read_support_filter_gzip) read_support_filter_gzip = nullptr;
  decltype(&::archive_read_support_filter_xz) read_support_filter_xz = nullptr;
  decltype(&::archive_read_support_filter_zstd) read_support_filter_zstd = nullptr;
  decltype(&::archive_read_support_format_tar) read_support_format_tar = nullptr;
  decltype(&::archive_read_support_format_zip) read_support_format_zip = nullptr;
  Result<void> loaded;
};

/// Its functions may be called only where it could be loaded.
const Archives& archives();

}  // namespace assay::launch
