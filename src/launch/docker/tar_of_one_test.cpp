// SPDX-License-Identifier: Apache-2.0
#include "docker/tar_of_one.h"

#include "process/testing.h"

#include <archive.h>
#include <archive_entry.h>
#include <array>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using testing::TempFolder;

/// All of it, in parts that fit no block.
std::string all_of(TarOfOne& tar) {
  std::string bytes;
  std::array<char, 700> part{};
  while (const size_t size = tar.read(part.data(), part.size())) bytes.append(part.data(), size);
  return bytes;
}

TEST(TarOfOne, is_an_archive_that_others_read) {
  const TempFolder folder;
  for (const size_t size : {0U, 1U, 512U, 5000U}) {
    const std::string content(size, 'm');
    ASSERT_TRUE(write_file(folder.path() / "m", content));
    auto tar = TarOfOne::open(folder.path() / "m", "model.onnx");
    ASSERT_TRUE(tar) << tar.error().message;
    const std::string bytes = all_of(*tar);
    EXPECT_EQ(bytes.size(), tar->size());
    archive* const reader = archive_read_new();
    archive_read_support_format_tar(reader);
    ASSERT_EQ(archive_read_open_memory(reader, bytes.data(), bytes.size()), ARCHIVE_OK);
    archive_entry* entry = nullptr;
    ASSERT_EQ(archive_read_next_header(reader, &entry), ARCHIVE_OK) << size;
    EXPECT_STREQ(archive_entry_pathname(entry), "model.onnx");
    EXPECT_EQ(archive_entry_perm(entry), 0644U);
    std::string read(size + 1, '\0');
    read.resize(static_cast<size_t>(archive_read_data(reader, read.data(), read.size())));
    EXPECT_EQ(read, content);
    EXPECT_EQ(archive_read_next_header(reader, &entry), ARCHIVE_EOF);
    archive_read_free(reader);
  }
}

TEST(TarOfOne, a_file_that_shrinks_ends_it_early) {
  const TempFolder folder;
  ASSERT_TRUE(write_file(folder.path() / "m", std::string(5000, 'm')));
  auto tar = TarOfOne::open(folder.path() / "m", "m");
  ASSERT_TRUE(tar);
  std::filesystem::resize_file(folder.path() / "m", 100);
  EXPECT_LT(all_of(*tar).size(), tar->size());
}

TEST(TarOfOne, what_is_no_file_is_refused) {
  const TempFolder folder;
  EXPECT_FALSE(TarOfOne::open(folder.path(), "m"));
  EXPECT_FALSE(TarOfOne::open(folder.path() / "none", "m"));
  EXPECT_FALSE(TarOfOne::open("/proc/self/exe", std::string(100, 'n')));
}

}  // namespace
}  // namespace assay::launch
