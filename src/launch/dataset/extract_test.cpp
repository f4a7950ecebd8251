// SPDX-License-Identifier: Apache-2.0
#include "dataset/extract.h"

#include "dataset/testing/test_archive.h"
#include "process/testing.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;
using testing::ArchiveItem;
using testing::make_archive;
using testing::TempFolder;

struct Kind {
  std::string ending;
  std::string format;
  std::string filter;
};

class Extract : public ::testing::Test {
 protected:
  Extract() { fs::create_directory(inside()); }

  fs::path inside() const { return folder_.path() / "inside"; }
  std::string read(const std::string& name) const { return folder_.read("inside/" + name); }
  Result<void> unpack(const std::vector<ArchiveItem>& items, const ExtractRules& rules = {}) {
    return extract_bytes(make_archive("pax", "", items), inside(), rules);
  }
  /// All names below the folder that the test owns.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      found.push_back(fs::relative(entry.path(), folder_.path()).native());
    std::sort(found.begin(), found.end());
    return found;
  }
  void expect_refused(const std::vector<ArchiveItem>& items, const std::string& words) {
    const auto result = unpack(items);
    ASSERT_FALSE(result) << items.back().name;
    EXPECT_EQ(result.error().kind, ErrorKind::input);
    EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
  }

  TempFolder folder_;
};

TEST_F(Extract, ReadsEveryKindByItsName) {
  for (const Kind& kind :
       {Kind{".tar", "ustar", ""}, Kind{".tar.gz", "ustar", "gzip"}, Kind{".tgz", "pax", "gzip"},
        Kind{".tar.xz", "pax", "xz"}, Kind{".tar.zst", "pax", "zstd"}, Kind{".zip", "zip", ""}}) {
    const std::string name = "a" + kind.ending;
    ASSERT_TRUE(is_archive_name(name)) << name;
    folder_.write(name, make_archive(kind.format, kind.filter, {{"d/x.txt", "hello " + name}}));
    const auto result = extract(folder_.path() / name, inside(), {});
    ASSERT_TRUE(result) << name << ": " << result.error().message;
    EXPECT_EQ(read("d/x.txt"), "hello " + name);
  }
  EXPECT_FALSE(is_archive_name("a.txt"));
  EXPECT_FALSE(is_archive_name(".zip"));
}

TEST_F(Extract, KeepsNamesFoldersAndExecutableModesOnly) {
  ASSERT_TRUE(unpack({{"./empty/", "", AE_IFDIR, "", 0},
                      {"d/größe 1", "x", AE_IFREG, "", 0600},
                      {"run", "x", AE_IFREG, "", 06711}}));
  EXPECT_TRUE(fs::is_directory(inside() / "empty"));
  const auto mode = [&](const char* name) {
    struct stat status {};
    EXPECT_EQ(::stat((inside() / name).c_str(), &status), 0) << name;
    return status.st_mode & 07777;
  };
  EXPECT_EQ(mode("empty"), 0755U);
  EXPECT_EQ(mode("d/größe 1"), 0644U);
  EXPECT_EQ(mode("run"), 0755U);
}

TEST_F(Extract, KeepsLinksThatStayInside) {
  ASSERT_TRUE(unpack({{"d/x", "hello"},
                      {"d/e/up", "", AE_IFLNK, "../x"},
                      {"down", "", AE_IFLNK, "./d//x"},
                      {"hard", "", AE_IFREG, "d/x"}}));
  EXPECT_EQ(read("d/e/up"), "hello");
  EXPECT_EQ(read("down"), "hello");
  EXPECT_EQ(read("hard"), "hello");
}

TEST_F(Extract, LaterItemReplacesAnEarlierOne) {
  ASSERT_TRUE(unpack({{"x", "old"}, {"keep", "", AE_IFREG, "x"}, {"x", "new"}}));
  EXPECT_EQ(read("x"), "new");
  EXPECT_EQ(read("keep"), "old");
}

TEST_F(Extract, NamesThatLeadOutAreRefused) {
  for (const char* name : {"/abs", "../x", "d/../../x", "d/.."})
    expect_refused({{name, "x"}}, "leads out");
  expect_refused({{"../d", "", AE_IFDIR}}, "leads out");
  EXPECT_EQ(names(), std::vector<std::string>{"inside"});
}

TEST_F(Extract, LinksThatLeadOutAreRefused) {
  for (const char* target : {"/etc/passwd", "..", "../../x", "../inside/../.."})
    expect_refused({{"l", "", AE_IFLNK, target}}, "leads out");
  expect_refused({{"d/l", "", AE_IFLNK, "../../x"}}, "leads out");
  expect_refused({{"h", "", AE_IFREG, "../x"}}, "leads out");
}

TEST_F(Extract, LinkThatWouldGoUpBehindAnotherLinkIsRefused) {
  expect_refused({{"a/b/top", "", AE_IFLNK, "../.."}, {"out", "", AE_IFLNK, "a/b/top/../x"}},
                 "leads out");
}

TEST_F(Extract, NothingIsWrittenThroughALink) {
  fs::create_directory(folder_.path() / "outside");
  fs::create_directory_symlink(folder_.path() / "outside", inside() / "l");
  expect_refused({{"l/x", "x"}}, "leads out");
  fs::create_symlink(folder_.path() / "outside" / "y", inside() / "m");
  ASSERT_TRUE(unpack({{"m", "x"}}));
  EXPECT_TRUE(fs::is_empty(folder_.path() / "outside"));
  EXPECT_EQ(read("m"), "x");
}

TEST_F(Extract, HardLinkToALinkIsRefused) {
  expect_refused({{"a/l", "", AE_IFLNK, "../x"}, {"h", "", AE_IFREG, "a/l"}}, "leads out");
}

TEST_F(Extract, DevicesAndPipesAreRefused) {
  expect_refused({{"d", "", AE_IFCHR}}, "no file, folder or link");
  expect_refused({{"p", "", AE_IFIFO}}, "no file, folder or link");
}

TEST_F(Extract, SizeAndNumberAreBounded) {
  ExtractRules rules;
  rules.max_bytes = 1000;
  EXPECT_TRUE(unpack({{"a", std::string(600, 'x')}, {"b", std::string(400, 'x')}}, rules));
  const auto large = unpack({{"a", std::string(600, 'x')}, {"b", std::string(401, 'x')}}, rules);
  ASSERT_FALSE(large);
  EXPECT_NE(large.error().message.find("more than 1 kB"), std::string::npos)
      << large.error().message;
  rules.max_entries = 1;
  EXPECT_TRUE(unpack({{"a", ""}}, rules));
  EXPECT_FALSE(unpack({{"a", ""}, {"b", ""}}, rules));
}

TEST_F(Extract, CanBeStopped) {
  ExtractRules rules;
  rules.go_on = [](uint64_t) { return false; };
  const auto result = unpack({{"a", "x"}}, rules);
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().temporary);
}

TEST_F(Extract, DamagedArchivesAreErrors) {
  EXPECT_FALSE(extract_bytes("not an archive at all", inside(), {}));
  const std::string whole = make_archive("pax", "gzip", {{"a", std::string(100'000, 'x')}});
  EXPECT_FALSE(extract_bytes(std::string_view(whole).substr(0, whole.size() / 2), inside(), {}));
  EXPECT_FALSE(extract("/none/x.tar", inside(), {}));
}

}  // namespace
}  // namespace assay::launch
