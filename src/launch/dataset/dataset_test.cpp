// SPDX-License-Identifier: Apache-2.0
#include "dataset/sha256.h"
#include "dataset/testing/script_server.h"
#include "dataset/testing/test_archive.h"
#include "process/testing.h"

#include <assay/launch/dataset.h>
#include <gtest/gtest.h>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;
using testing::make_archive;
using testing::TempFolder;

bool go_on(uint64_t, std::optional<uint64_t>) {
  return true;
}

class LocalDataset : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).native(); }
  DatasetCache cache() const { return {.folder = folder_.path() / "cache"}; }
  Result<Dataset> fetch(const DatasetSource& source) const {
    return fetch_dataset(source, cache(), go_on);
  }
  size_t entries() const {
    const fs::path folder = cache().folder / "entries";
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  TempFolder folder_;
};

TEST_F(LocalDataset, FolderIsUsedWhereItIs) {
  folder_.write("data/x.txt", "hello");
  const auto dataset = fetch({path("data")});
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(dataset->path(), path("data"));
  EXPECT_FALSE(fs::exists(cache().folder));
}

TEST_F(LocalDataset, FileIsUsedWhereItIsAndItsChecksumHolds) {
  folder_.write("x.bin", "hello");
  const auto dataset = fetch({path("x.bin"), sha256_of("hello")});
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(dataset->path(), path("x.bin"));
  EXPECT_EQ(dataset->bytes(), 5U);
  EXPECT_EQ(dataset->digest(), "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
  const auto other = fetch({path("x.bin"), sha256_of("other")});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::input);
  EXPECT_NE(other.error().message.find("has the sha256 2cf24dba"), std::string::npos);
}

TEST_F(LocalDataset, ArchiveIsUnpackedOnce) {
  folder_.write("a.tar.gz", make_archive("pax", "gzip", {{"d/x.txt", "hello"}}));
  fs::path first;
  {
    const auto dataset = fetch({path("a.tar.gz")});
    ASSERT_TRUE(dataset) << dataset.error().message;
    EXPECT_EQ(read_file(dataset->path() / "d/x.txt").value(), "hello");
    EXPECT_EQ(dataset->bytes(), 5U);
    first = dataset->path();
  }
  ASSERT_TRUE(write_file(first / "mark", ""));
  const auto again = fetch({path("a.tar.gz")});
  ASSERT_TRUE(again);
  EXPECT_TRUE(fs::exists(again->path() / "mark"));
  EXPECT_TRUE(fs::exists(path("a.tar.gz")));
  EXPECT_TRUE(fs::is_empty(cache().folder / "work"));
}

TEST_F(LocalDataset, ChangedArchiveIsAnotherDataset) {
  folder_.write("a.zip", make_archive("zip", "", {{"x", "old"}}));
  const auto old = fetch({path("a.zip")});
  folder_.write("a.zip", make_archive("zip", "", {{"x", "new"}}));
  const auto dataset = fetch({path("a.zip")});
  ASSERT_TRUE(old && dataset);
  EXPECT_EQ(read_file(old->path() / "x").value(), "old");
  EXPECT_EQ(read_file(dataset->path() / "x").value(), "new");
}

TEST_F(LocalDataset, BadArchiveLeavesNothing) {
  folder_.write("a.tar", make_archive("pax", "", {{"ok", "x"}, {"../out", "x"}}));
  const auto dataset = fetch({path("a.tar")});
  ASSERT_FALSE(dataset);
  EXPECT_NE(dataset.error().message.find(path("a.tar")), std::string::npos);
  EXPECT_EQ(entries(), 0U);
  EXPECT_TRUE(fs::is_empty(cache().folder / "work"));
}

TEST_F(LocalDataset, StoppedUnpackingLeavesNoEntry) {
  folder_.write("a.tar", make_archive("pax", "", {{"ok", "x"}}));
  int calls = 0;
  const auto dataset =
      fetch_dataset({path("a.tar")}, cache(), [&](uint64_t, auto) { return ++calls < 2; });
  ASSERT_FALSE(dataset);
  EXPECT_NE(dataset.error().message.find("stopped"), std::string::npos);
  EXPECT_EQ(entries(), 0U);
}

TEST_F(LocalDataset, EvictsWhatWasNotUsedForLongestUnlessItIsInUse) {
  const auto archive = [&](const std::string& name) {
    folder_.write(name, make_archive("pax", "", {{name + "-x", std::string(400, name[0])}}));
    return path(name);
  };
  DatasetCache small = cache();
  small.max_bytes = 1000;
  const auto get = [&](const std::string& name) {
    auto dataset = fetch_dataset({archive(name)}, small, go_on);
    EXPECT_TRUE(dataset) << dataset.error().message;
    return std::move(*dataset);
  };
  const Dataset in_use = get("a.tar");
  fs::path unused;
  {
    const Dataset b = get("b.tar");
    unused = b.path();
  }
  const fs::path third = get("c.tar").path();
  EXPECT_TRUE(fs::exists(in_use.path()));
  EXPECT_FALSE(fs::exists(unused));
  EXPECT_TRUE(fs::exists(third));
}

TEST_F(LocalDataset, EvictsWhatIsTooOld) {
  folder_.write("a.tar", make_archive("pax", "", {{"x", "old"}}));
  folder_.write("b.tar", make_archive("pax", "", {{"x", "new"}}));
  const fs::path old = fetch({path("a.tar")})->path();
  fs::last_write_time(old.parent_path(),
                      fs::file_time_type::clock::now() - std::chrono::hours(91 * 24));
  const fs::path recent = fetch({path("b.tar")})->path();
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(recent));
}

TEST_F(LocalDataset, UseMakesItYoungAgain) {
  folder_.write("a.tar", make_archive("pax", "", {{"x", "old"}}));
  folder_.write("b.tar", make_archive("pax", "", {{"x", "new"}}));
  const fs::path old = fetch({path("a.tar")})->path();
  fs::last_write_time(old.parent_path(),
                      fs::file_time_type::clock::now() - std::chrono::hours(91 * 24));
  ASSERT_TRUE(fetch({path("a.tar")}));
  ASSERT_TRUE(fetch({path("b.tar")}));
  EXPECT_TRUE(fs::exists(old));
}

TEST_F(LocalDataset, ArchiveLargerThanTheCacheIsRefused) {
  folder_.write("a.tar", make_archive("pax", "", {{"x", std::string(2000, 'x')}}));
  DatasetCache small = cache();
  small.max_bytes = 1000;
  const auto dataset = fetch_dataset({path("a.tar")}, small, go_on);
  ASSERT_FALSE(dataset);
  EXPECT_NE(dataset.error().message.find("more than 1 kB"), std::string::npos);
}

TEST(CheckDataset, TellsWhatIsWrongWithoutFetching) {
  const TempFolder folder;
  folder.write("x", "");
  const auto words = [&](const DatasetSource& source) {
    const auto checked = check_dataset(source);
    return checked ? "fine" : checked.error().message;
  };
  const std::string sum(64, 'A');
  EXPECT_EQ(words({folder.path().native()}), "fine");
  EXPECT_EQ(words({(folder.path() / "x").native(), sum}), "fine");
  EXPECT_EQ(words({"https://example.org/x.zip", sum}), "fine");
  EXPECT_EQ(words({"http://localhost:1/x.zip"}), "fine");
  EXPECT_EQ(words({"s3://bucket/prefix"}), "fine");
  EXPECT_NE(words({""}).find("no name"), std::string::npos);
  EXPECT_NE(words({"https:///x"}).find("no host"), std::string::npos);
  EXPECT_NE(words({"/none/x"}).find("not there"), std::string::npos);
  EXPECT_NE(words({"/dev/null"}).find("no file and no folder"), std::string::npos);
  EXPECT_NE(words({folder.path().native(), sum}).find("folder, which has no sha256"),
            std::string::npos);
  EXPECT_NE(words({"https://example.org/x", "12"}).find("64 hexadecimal"), std::string::npos);
  EXPECT_NE(words({"s3://bucket/x", sum}).find("no sha256"), std::string::npos);
  EXPECT_NE(words({"s3://X"}).find("names no bucket"), std::string::npos);
  EXPECT_NE(words({"ftp://example.org/x"}).find("cannot fetch"), std::string::npos);
  const std::string plain = words({"http://me:dummy@example.org/x?sig=dummy"});
  EXPECT_NE(plain.find("http://example.org/x would come unprotected"), std::string::npos) << plain;
  EXPECT_EQ(plain.find("dummy"), std::string::npos);
}

TEST(DefaultDatasetCache, IsWhereTheEnvironmentSays) {
  const testing::ScopedVariable xdg("XDG_CACHE_HOME", "/xdg");
  EXPECT_EQ(default_dataset_cache().folder, "/xdg/assay/datasets");
  const testing::ScopedVariable chosen("ASSAY_CACHE", "/chosen");
  EXPECT_EQ(default_dataset_cache().folder, "/chosen/datasets");
  EXPECT_EQ(default_dataset_cache().max_bytes, 20'000'000'000U);
}

}  // namespace
}  // namespace assay::launch
