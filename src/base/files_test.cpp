// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <filesystem>

#include <assay/base/files.h>
#include <gtest/gtest.h>

namespace assay {
namespace {
namespace fs = std::filesystem;

class Files : public testing::Test {
 public:
  Files() {
    std::string pattern = fs::temp_directory_path() / "assay-files-XXXXXX";
    dir_ = mkdtemp(pattern.data());
  }
  ~Files() override { fs::remove_all(dir_); }

 protected:
  fs::path dir_;
};

TEST_F(Files, writes_and_reads_back) {
  ASSERT_TRUE(write_file(dir_ / "a", "one"));
  ASSERT_TRUE(write_file(dir_ / "a", "two"));
  EXPECT_EQ(read_file(dir_ / "a").value(), "two");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), {}), 1) << "no temporary file is left";
}

TEST_F(Files, errors_name_the_file) {
  EXPECT_NE(read_file(dir_ / "none").error().message.find("none: No such file"), std::string::npos);
  EXPECT_FALSE(write_file(dir_ / "none/a", "x"));
  ASSERT_TRUE(write_file(dir_ / "big", std::string(100, 'x')));
  EXPECT_EQ(read_file(dir_ / "big", 99).error().kind, ErrorKind::input);
}

TEST_F(Files, sys_root_reads_below_its_prefix) {
  fs::create_directories(dir_ / "proc");
  ASSERT_TRUE(write_file(dir_ / "proc/stat", std::string("cpu 1\n\0", 7)));
  const SysRoot root(dir_);
  EXPECT_EQ(root.read("/proc/stat").value(), "cpu 1");
  EXPECT_EQ(root.list("/proc"), (std::vector<std::string>{"stat"}));
  EXPECT_FALSE(root.exists("/proc/none"));
  EXPECT_FALSE(root.is_live());
  EXPECT_TRUE(SysRoot("/").is_live());
}

TEST_F(Files, a_kept_open_file_gives_fresh_content) {
  ASSERT_TRUE(write_file(dir_ / "a", "12345"));
  const SysRoot root(dir_);
  const Fd fd = std::move(*root.open("/a"));
  std::array<char, 4> small{};
  EXPECT_EQ(pread_text(fd.get(), small), "1234");
  EXPECT_EQ(pread_text(fd.get(), small), "1234");
  EXPECT_EQ(pread_text(-1, small), std::nullopt);
}

}  // namespace
}  // namespace assay
