// SPDX-License-Identifier: Apache-2.0
#include "dataset/extract.h"

#include "dataset/archives.h"
#include "dataset/safe_folder.h"
#include "dataset/sha256.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

constexpr size_t kBlock = 64U << 10U;

struct ArchiveDelete {
  void operator()(archive* a) const { archives().read_free(a); }
};
using Reader = std::unique_ptr<archive, ArchiveDelete>;

Reader new_reader() {
  Reader reader(archives().read_new());
  archives().read_support_format_tar(reader.get());
  archives().read_support_format_zip(reader.get());
  archives().read_support_filter_gzip(reader.get());
  archives().read_support_filter_xz(reader.get());
  archives().read_support_filter_zstd(reader.get());
  return reader;
}

Failure unreadable(archive* reader) {
  const char* const why = archives().error_string(reader);
  return bad_input(fmt::format("the archive cannot be unpacked: {}",
                               why != nullptr ? why : "it is damaged or of another kind"));
}

/// Names are UTF-8 where the archive says so, else bytes.
std::string text_of(const char* utf8, const char* bytes) {
  if (utf8 != nullptr) return utf8;
  return bytes != nullptr ? bytes : "";
}

class Extraction {
 public:
  Extraction(archive* reader, SafeFolder folder, const ExtractRules& rules)
      : reader_(reader), folder_(std::move(folder)), rules_(rules) {}

  Result<void> run() {
    archive_entry* entry = nullptr;
    while (true) {
      const int code = archives().read_next_header(reader_, &entry);
      if (code == ARCHIVE_EOF) return {};
      if (code != ARCHIVE_OK && code != ARCHIVE_WARN) return unreadable(reader_);
      if (++entries_ > rules_.max_entries)
        return bad_input(fmt::format("the archive has more than {} entries", rules_.max_entries));
      ASSAY_CHECK(unpack(entry));
    }
  }

 private:
  Result<void> unpack(archive_entry* entry) {
    const std::string name =
        text_of(archives().entry_pathname_utf8(entry), archives().entry_pathname(entry));
    const std::string hard =
        text_of(archives().entry_hardlink_utf8(entry), archives().entry_hardlink(entry));
    if (!hard.empty()) return folder_.make_hard_link(name, hard);
    switch (archives().entry_filetype(entry)) {
      case AE_IFDIR:
        return folder_.make_folder(name);
      case AE_IFLNK:
        return folder_.make_link(
            name, text_of(archives().entry_symlink_utf8(entry), archives().entry_symlink(entry)));
      case AE_IFREG:
        return unpack_file(name, (archives().entry_perm(entry) & 0111) != 0);
      default:
        return bad_input(fmt::format("'{}' in the archive is no file, folder or link", name));
    }
  }

  Result<void> unpack_file(const std::string& name, bool executable) {
    ASSAY_TRY(const Fd fd, folder_.make_file(name, executable));
    uint64_t size = 0;
    while (true) {
      const void* data = nullptr;
      size_t length = 0;
      la_int64_t offset = 0;
      const int code = archives().read_data_block(reader_, &data, &length, &offset);
      if (code != ARCHIVE_EOF && code != ARCHIVE_OK) return unreadable(reader_);
      if (offset < 0) return unreadable(reader_);
      size = std::max(size, static_cast<uint64_t>(offset) + length);
      if (size > rules_.max_bytes - std::min(bytes_, rules_.max_bytes))
        return bad_input(fmt::format("the archive unpacks to more than {}",
                                     format_bytes(static_cast<double>(rules_.max_bytes))));
      if (!rules_.go_on(bytes_ + size)) return fail(stopped_error());
      if (code == ARCHIVE_EOF) break;
      ASSAY_CHECK(write_at(fd.get(), {static_cast<const char*>(data), length},
                           static_cast<uint64_t>(offset)));
    }
    bytes_ += size;
    return set_size(fd.get(), size);
  }

  archive* reader_;
  SafeFolder folder_;
  const ExtractRules& rules_;
  uint64_t entries_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

bool is_archive_name(std::string_view name) {
  constexpr std::array<std::string_view, 8> kEndings = {".tar", ".tar.gz",  ".tgz",  ".tar.xz",
                                                        ".txz", ".tar.zst", ".tzst", ".zip"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) {
    return name.size() > ending.size() && name.ends_with(ending);
  });
}

Result<void> extract(const std::filesystem::path& file, const std::filesystem::path& folder,
                     const ExtractRules& rules) {
  ASSAY_TRY(SafeFolder safe, SafeFolder::open(folder));
  ASSAY_CHECK(archives().loaded);
  const Reader reader = new_reader();
  if (archives().read_open_filename(reader.get(), file.c_str(), kBlock) != ARCHIVE_OK)
    return unreadable(reader.get());
  return Extraction(reader.get(), std::move(safe), rules).run();
}

Result<void> extract_bytes(std::string_view bytes, const std::filesystem::path& folder,
                           const ExtractRules& rules) {
  ASSAY_TRY(SafeFolder safe, SafeFolder::open(folder));
  ASSAY_CHECK(archives().loaded);
  const Reader reader = new_reader();
  if (archives().read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
    return unreadable(reader.get());
  return Extraction(reader.get(), std::move(safe), rules).run();
}

}  // namespace assay::launch
