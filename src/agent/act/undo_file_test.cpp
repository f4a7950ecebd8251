// SPDX-License-Identifier: Apache-2.0
#include "act/undo_file.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace assay::agent {
namespace {
namespace fs = std::filesystem;

TEST(UndoFile, gives_back_what_was_saved_and_goes_when_nothing_is_left) {
  std::string name = (fs::temp_directory_path() / "assay-undo-XXXXXX").native();
  const fs::path folder = ::mkdtemp(name.data());
  const UndoFile file(folder / "limits.json");
  EXPECT_TRUE(file.load().empty());
  const Originals originals = {
      {"/docker/a", {.limits = {.cores = 0}}},
      {"/docker/b", {.limits = {.cores = 1.5, .memory_bytes = 5000}}},
      {"/kubepods/c", {.limits = {.cores = 2}, .pod_uid = "u1", .container = "main"}}};
  ASSERT_TRUE(file.save(originals));
  EXPECT_EQ(file.load(), originals);
  ASSERT_TRUE(file.save({}));
  EXPECT_TRUE(fs::is_empty(folder));
  fs::remove_all(folder);
}

TEST(UndoFile, what_is_broken_changes_nothing) {
  for (const char* text : {"", "{", "[]", "7", R"({"/a": 5})", R"({"/a": {"cores": -1}})",
                           R"({"/a": {"cores": "x", "memory_bytes": 1.5}})"})
    EXPECT_TRUE(parse_originals(text).empty()) << text;
}

}  // namespace
}  // namespace assay::agent
