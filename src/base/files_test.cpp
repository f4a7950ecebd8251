// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

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

TEST_F(Files, a_pipe_stays_one_and_is_written_to) {
  ASSERT_EQ(::mkfifo((dir_ / "pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", dir_ / "link");
  const Fd reader(::open((dir_ / "pipe").c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(write_file(dir_ / "pipe", "one"));
  ASSERT_TRUE(write_file(dir_ / "link", "two"));
  std::array<char, 16> seen{};
  ASSERT_EQ(::read(reader.get(), seen.data(), seen.size()), 6);
  EXPECT_EQ(std::string_view(seen.data(), 6), "onetwo");
  EXPECT_TRUE(fs::is_fifo(dir_ / "pipe"));
  EXPECT_TRUE(fs::is_symlink(dir_ / "link"));
}

TEST_F(Files, an_open_file_without_a_name_is_written_to) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const Fd reader(ends[0]);
  const Fd writer(ends[1]);
  fs::create_symlink("/proc/self/fd/" + std::to_string(writer.get()), dir_ / "stdout");
  ASSERT_TRUE(write_file(dir_ / "stdout", "one"));
  std::array<char, 16> seen{};
  ASSERT_EQ(::read(reader.get(), seen.data(), seen.size()), 3);
  EXPECT_TRUE(fs::is_symlink(dir_ / "stdout"));
}

TEST_F(Files, a_link_stays_one_and_what_it_leads_to_is_written) {
  fs::create_directory(dir_ / "real");
  fs::create_symlink("real/a", dir_ / "near");
  fs::create_symlink(dir_ / "near", dir_ / "far");
  for (const auto* content : {"new", "again"}) {
    ASSERT_TRUE(write_file(dir_ / "far", content));
    EXPECT_EQ(read_file(dir_ / "real/a").value(), content);
    EXPECT_TRUE(fs::is_symlink(dir_ / "far"));
    EXPECT_TRUE(fs::is_symlink(dir_ / "near"));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_), {}), 3) << "no temporary file is left";
}

TEST_F(Files, a_folder_is_not_replaced) {
  fs::create_directory(dir_ / "folder");
  EXPECT_FALSE(write_file(dir_ / "folder", "x"));
  EXPECT_TRUE(fs::is_directory(dir_ / "folder"));
}

TEST_F(Files, a_new_file_has_the_mode_of_the_umask_and_an_old_one_keeps_its_own) {
  const mode_t before = ::umask(027);
  ASSERT_TRUE(write_file(dir_ / "new", "x"));
  ::umask(before);
  EXPECT_EQ(fs::status(dir_ / "new").permissions(), fs::perms(0640));
  fs::permissions(dir_ / "new", fs::perms(0600));
  ASSERT_TRUE(write_file(dir_ / "new", "y"));
  EXPECT_EQ(fs::status(dir_ / "new").permissions(), fs::perms(0600));
}

TEST_F(Files, errors_name_the_file) {
  EXPECT_NE(read_file(dir_ / "none").error().message.find("none: No such file"), std::string::npos);
  EXPECT_FALSE(write_file(dir_ / "none/a", "x"));
  ASSERT_TRUE(write_file(dir_ / "big", std::string(100, 'x')));
  EXPECT_EQ(read_file(dir_ / "big", 99).error().kind, ErrorKind::input);
}

TEST_F(Files, a_program_is_found_along_a_path) {
  fs::create_directories(dir_ / "bin/folder");
  ASSERT_TRUE(write_file(dir_ / "bin/tool", "#!/bin/sh"));
  EXPECT_FALSE(is_in_path("tool", "none:bin", dir_)) << "nobody may run it";
  fs::permissions(dir_ / "bin/tool", fs::perms::owner_all);
  EXPECT_TRUE(is_in_path("tool", "none:bin", dir_));
  EXPECT_TRUE(is_in_path("tool", (dir_ / "bin").native()));
  EXPECT_FALSE(is_in_path("tool", "none", dir_));
  EXPECT_FALSE(is_in_path("folder", "bin", dir_));
  EXPECT_FALSE(is_in_path("tool", ""));
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
