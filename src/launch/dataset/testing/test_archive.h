// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <string>
#include <vector>

namespace assay::launch::testing {

struct ArchiveItem {
  std::string name;
  std::string content = {};
  unsigned type = AE_IFREG;
  std::string target = {};  ///< of a link; with AE_IFREG of a hard link
  int mode = 0644;
};

/// An archive as bytes: ("ustar", "gzip"), ("zip", ""), also with items that no tool would make.
inline std::string make_archive(const std::string& format, const std::string& filter,
                                const std::vector<ArchiveItem>& items) {
  std::string bytes(4U << 20U, '\0');
  size_t used = 0;
  archive* const writer = archive_write_new();
  archive_write_set_format_by_name(writer, format.c_str());
  if (!filter.empty()) archive_write_add_filter_by_name(writer, filter.c_str());
  archive_write_set_bytes_in_last_block(writer, 1);
  archive_write_open_memory(writer, bytes.data(), bytes.size(), &used);
  for (const ArchiveItem& item : items) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, item.name.c_str());
    archive_entry_set_filetype(entry, item.type);
    archive_entry_set_perm(entry, static_cast<mode_t>(item.mode));
    archive_entry_set_size(entry, static_cast<la_int64_t>(item.content.size()));
    if (item.type == AE_IFLNK) archive_entry_set_symlink(entry, item.target.c_str());
    if (item.type == AE_IFREG && !item.target.empty())
      archive_entry_set_hardlink(entry, item.target.c_str());
    archive_write_header(writer, entry);
    archive_write_data(writer, item.content.data(), item.content.size());
    archive_entry_free(entry);
  }
  archive_write_close(writer);
  archive_write_free(writer);
  bytes.resize(used);
  return bytes;
}

}  // namespace assay::launch::testing
