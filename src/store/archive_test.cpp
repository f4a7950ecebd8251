// SPDX-License-Identifier: Apache-2.0
#include "archive.h"

#include "packer.h"
#include "test_support.h"

#include <nlohmann/json.hpp>

#include <assay/base/files.h>
#include <gtest/gtest.h>

namespace assay::store {
namespace {

class ArchiveTest : public testing::Test {
 protected:
  TempFolder folder_;
  std::unique_ptr<Store> here_ = must_open(folder_ / "here.db");
  std::unique_ptr<Store> there_ = must_open(folder_ / "there.db");
  std::filesystem::path file_ = folder_ / "s.assay";

  void SetUp() override {
    SessionRecord session = example_session("20260131-aa");
    session.runs = {example_run(1, RunStatus::finished), example_run(2, RunStatus::running)};
    ASSERT_TRUE(here_->add_session(session));
    ASSERT_TRUE(
        here_->append(session.id, 1, {example_series("a", 0, 50), example_series("b", 0, 7)}));
    ASSERT_TRUE(here_->compact(session.id, 1));
    ASSERT_TRUE(here_->append(session.id, 1, {example_series("a", 50, 10)}));
    ASSERT_TRUE(here_->append(session.id, 2, {example_series("a", 0, 3)}));
    const auto exported = here_->export_session("2026", file_);
    ASSERT_TRUE(exported) << exported.error().message;
  }
};

TEST_F(ArchiveTest, a_session_moves_whole_to_another_history) {
  const auto id = there_->import_session(file_);
  ASSERT_TRUE(id) << id.error().message;
  EXPECT_EQ(*id, "20260131-aa");
  auto session = there_->session(*id);
  ASSERT_TRUE(session);
  EXPECT_EQ(to_json(session->runs[0]), to_json(here_->session(*id)->runs[0]));
  EXPECT_EQ(session->labels, example_session("").labels);
  expect_samples(stored(*there_, *id, 1, "a"), example_series("a", 0, 60));
  expect_samples(stored(*there_, *id, 1, "b"), example_series("b", 0, 7));
  EXPECT_EQ(there_->size(*id)->samples, 70U);
}

TEST_F(ArchiveTest, a_run_that_was_going_on_arrives_as_interrupted) {
  const auto id = there_->import_session(file_);
  const auto session = there_->session(*id);
  EXPECT_EQ(session->runs[1].status, RunStatus::interrupted);
  EXPECT_EQ(session->runs[1].ended, example_series("a", 0, 3).times.back());
  EXPECT_EQ(here_->session(*id)->runs[1].status, RunStatus::running);
}

TEST_F(ArchiveTest, a_path_of_another_machine_is_not_taken_over) {
  EXPECT_EQ(there_->session(*there_->import_session(file_))->folder, "");
}

TEST_F(ArchiveTest, importing_again_changes_nothing) {
  ASSERT_TRUE(there_->import_session(file_));
  const auto before = to_json(*there_->session("last"));
  const auto again = there_->import_session(file_);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, "20260131-aa");
  EXPECT_EQ(to_json(*there_->session("last")), before);
  EXPECT_EQ(there_->size("last")->samples, 70U);
  EXPECT_EQ(there_->list()->size(), 1U);
}

TEST_F(ArchiveTest, a_session_folder_is_read_through_its_archive) {
  const auto folder = folder_ / "session-folder";
  std::filesystem::create_directory(folder);
  ASSERT_FALSE(there_->import_session(folder));
  std::filesystem::copy_file(file_, folder / kArchiveName);
  const auto id = there_->import_session(folder);
  ASSERT_TRUE(id) << id.error().message;
  EXPECT_EQ(there_->session(*id)->folder, folder.native());
}

TEST_F(ArchiveTest, cut_or_changed_files_are_refused_and_change_nothing) {
  const std::string good = *read_file(file_);
  const auto refused = [&](const std::string& bytes) {
    EXPECT_TRUE(write_file(folder_ / "bad.assay", bytes));
    const auto result = there_->import_session(folder_ / "bad.assay");
    if (result) return false;
    expect_in(result.error().message, "bad.assay");
    return true;
  };
  // A few bits of a compressed stream mean nothing.
  const auto says_the_same = [&](const std::string& bytes) {
    const auto archive = read_archive(bytes);
    return archive && write_archive(*archive) == good;
  };
  ASSERT_TRUE(says_the_same(good));
  for (size_t size = 0; size < good.size(); size += 1 + good.size() / 40) {
    EXPECT_TRUE(refused(good.substr(0, size))) << size;
  }
  for (size_t at = 0; at < good.size(); at += 1 + good.size() / 40) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x20);
    EXPECT_TRUE(says_the_same(bad) || refused(bad)) << at;
  }
  EXPECT_TRUE(refused("hello"));
  EXPECT_TRUE(refused(good + "x"));
  EXPECT_TRUE(there_->list()->empty());
}

TEST(Archive, a_newer_format_says_so) {
  Archive archive;
  archive.session.id = "s";
  std::string bytes = *write_archive(archive);
  bytes[8] = 7;
  const auto read = read_archive(bytes);
  ASSERT_FALSE(read);
  expect_in(read.error().message, "newer Assay");
}

TEST(Archive, the_seeds_of_its_fuzzer_are_whole) {
  const std::filesystem::path seeds = ASSAY_SOURCE_DIR "/fuzz/corpus/archive";
  const std::string whole = *read_file(seeds / "whole");
  const auto read = read_archive(whole);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->runs.empty());
  const auto content = unpack(std::string_view(whole).substr(9), kMaxArchive);
  EXPECT_EQ(content, *read_file(seeds / "content")) << "the same without its compression";
}

TEST(Archive, what_does_not_fit_together_is_refused) {
  Archive archive;
  archive.session.id = "../../etc/passwd";
  EXPECT_FALSE(read_archive(*write_archive(archive)));
  archive.session.id = "s";
  EXPECT_TRUE(read_archive(*write_archive(archive)));
  archive.runs = {{1, {}, {}}};  // samples of a run that the session does not have
  EXPECT_FALSE(read_archive(*write_archive(archive)));
  archive.session.runs = {example_run(1, RunStatus::finished), example_run(1, RunStatus::finished)};
  EXPECT_FALSE(read_archive(*write_archive(archive)));
  archive.session.runs.pop_back();
  EXPECT_TRUE(read_archive(*write_archive(archive)));
  archive.runs[0].blocks = {"not a block"};
  EXPECT_FALSE(read_archive(*write_archive(archive)));
}

}  // namespace
}  // namespace assay::store
