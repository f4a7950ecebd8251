// SPDX-License-Identifier: Apache-2.0
#include "uploads.h"

#include <thread>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/zoo/zoo.h>
#include <gtest/gtest.h>

namespace assay::serve {
namespace {

namespace fs = std::filesystem;

class UploadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-uploads-XXXXXX").native();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  /// A small model's bytes.
  std::string model() const {
    const auto file = folder_ / "made.onnx";
    zoo::Recipe recipe;
    recipe.family = "squeezenet";
    recipe.width = 0.25;
    recipe.resolution = 64;
    const auto made = zoo::make_model(recipe, file);
    EXPECT_TRUE(made) << made.error().message;
    return read_file(file).value_or("");
  }
  size_t kept() const {  // beside the folder of what is on its way
    const auto entries =
        std::distance(fs::directory_iterator(folder_ / "uploads"), fs::directory_iterator());
    return static_cast<size_t>(entries) - 1;
  }

  fs::path folder_;
};

TEST_F(UploadsTest, a_model_is_kept_read_and_found_again) {
  Uploads uploads(folder_ / "uploads", 1U << 30U);
  ASSERT_TRUE(uploads.open());
  const auto sent = uploads.add("../my model.onnx", model());
  ASSERT_TRUE(sent) << sent.error().message;
  EXPECT_EQ(sent->name, "my_model.onnx");
  EXPECT_GT(sent->model.workload.macs(), 0);
  EXPECT_EQ(sent->file.parent_path(), folder_ / "uploads");
  const auto found = uploads.find(sent->id);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->name, "my_model.onnx");
  EXPECT_EQ(found->model.workload.macs(), sent->model.workload.macs());
}

TEST_F(UploadsTest, inputs_are_read_when_they_are_needed_and_not_held) {
  Uploads uploads(folder_ / "uploads", 1U << 30U);
  ASSERT_TRUE(uploads.open());
  const auto sent = uploads.add("m.onnx", model());
  ASSERT_TRUE(sent) << sent.error().message;
  EXPECT_TRUE(sent->model.inputs.empty());
  EXPECT_TRUE(uploads.find(sent->id)->model.inputs.empty());
  EXPECT_EQ(uploads.read(sent->id)->model.inputs.size(), 1U);
}

TEST_F(UploadsTest, inputs_are_not_held_after_a_start_either) {
  std::string id;
  {
    Uploads uploads(folder_ / "uploads", 1U << 30U);
    ASSERT_TRUE(uploads.open());
    id = uploads.add("m.onnx", model())->id;
  }
  Uploads uploads(folder_ / "uploads", 1U << 30U);
  ASSERT_TRUE(uploads.open());
  EXPECT_TRUE(uploads.find(id)->model.inputs.empty());
}

TEST_F(UploadsTest, what_is_no_model_is_refused_and_not_kept) {
  Uploads uploads(folder_ / "uploads", 1U << 30U);
  ASSERT_TRUE(uploads.open());
  ASSERT_TRUE(uploads.add("m.onnx", model()));
  const auto sent = uploads.add("cat.jpg", "\xff\xd8\xff");
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().kind, ErrorKind::input);
  EXPECT_EQ(sent.error().message.find(folder_.native()), std::string::npos) << sent.error().message;
  EXPECT_EQ(kept(), 1U);
}

TEST_F(UploadsTest, the_oldest_make_room_and_too_large_ones_are_refused) {
  const std::string bytes = model();
  Uploads uploads(folder_ / "uploads", bytes.size() * 5);
  ASSERT_TRUE(uploads.open());
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    const auto sent = uploads.add("m.onnx", bytes);
    ASSERT_TRUE(sent) << sent.error().message;
    // Times of files may be coarse; each is made older than the next.
    fs::last_write_time(sent->file, fs::file_time_type::clock::now() - std::chrono::hours(3 - i));
    ids.push_back(sent->id);
  }
  EXPECT_EQ(kept(), 2U);
  EXPECT_FALSE(uploads.find(ids[0]));
  EXPECT_TRUE(uploads.find(ids[2]));
  Uploads tiny(folder_ / "tiny", 10);
  ASSERT_TRUE(tiny.open());
  EXPECT_FALSE(tiny.add("m.onnx", bytes));
}

TEST_F(UploadsTest, ids_lead_nowhere_else) {
  Uploads uploads(folder_ / "uploads", 1U << 30U);
  ASSERT_TRUE(uploads.open());
  for (const char* id : {"", "../made", "0123456789abcdef", "zzzzzzzzzzzzzzzz"})
    EXPECT_FALSE(uploads.find(id)) << id;
}

TEST_F(UploadsTest, bodies_that_a_crash_has_left_are_removed_at_the_start) {
  const auto left = folder_ / "uploads/incoming/body-123456";
  fs::create_directories(left.parent_path());
  ASSERT_TRUE(write_file(left, "x"));
  Uploads uploads(folder_ / "uploads", 1U << 30U);
  ASSERT_TRUE(uploads.open());
  EXPECT_FALSE(fs::exists(left));
  Uploads second(folder_ / "uploads", 1U << 30U);
  EXPECT_FALSE(second.open()) << "another service has it";
}

TEST_F(UploadsTest, files_of_others_are_left_alone) {
  fs::create_directories(folder_ / "uploads");
  fs::permissions(folder_ / "uploads", fs::perms::owner_all | fs::perms::others_read);
  ASSERT_TRUE(write_file(folder_ / "uploads/mine.onnx", std::string(100000, 'x')));
  ASSERT_TRUE(write_file(folder_ / "uploads/body-mine", "x"));
  const std::string bytes = model();
  Uploads uploads(folder_ / "uploads", bytes.size() * 3);
  ASSERT_TRUE(uploads.open());
  ASSERT_TRUE(uploads.add("m.onnx", bytes));
  ASSERT_TRUE(uploads.add("m.onnx", bytes));
  EXPECT_TRUE(fs::exists(folder_ / "uploads/mine.onnx"));
  EXPECT_TRUE(fs::exists(folder_ / "uploads/body-mine"));
  EXPECT_EQ(fs::status(folder_ / "uploads").permissions() & fs::perms::others_read,
            fs::perms::others_read);
}

TEST_F(UploadsTest, what_is_on_its_way_is_bounded) {
  Uploads uploads(folder_ / "uploads", 2000);
  ASSERT_TRUE(uploads.open());
  net::ServerRequest head;
  head.content_length = 600;
  auto first = uploads.plan(head, 900, net::refusal);
  ASSERT_FALSE(first.refusal);
  auto second = uploads.plan(head, 900, net::refusal);
  ASSERT_FALSE(second.refusal) << "a promise takes no room";
  EXPECT_TRUE(first.take(600));
  EXPECT_EQ(uploads.plan(head, 900, net::refusal).refusal->status, 503);
  EXPECT_FALSE(second.take(600));
  EXPECT_TRUE(second.take(400));
  first = {};
  EXPECT_FALSE(uploads.plan(head, 900, net::refusal).refusal);
  second = {};
  head.content_length = 901;
  EXPECT_EQ(uploads.plan(head, 900, net::refusal).refusal->status, 413);
  head.content_length.reset();  // as much as may be
  first = uploads.plan(head, 2000, net::refusal);
  EXPECT_EQ(first.body_bytes, 1000U);
  EXPECT_TRUE(first.take(1000));
  EXPECT_EQ(uploads.plan(head, 2000, net::refusal).refusal->status, 503);
  head.content_length = 1;
  EXPECT_EQ(uploads.plan(head, 2000, net::refusal).refusal->status, 503);
}

TEST_F(UploadsTest, what_is_kept_and_what_is_on_its_way_are_bounded_together) {
  const std::string bytes = model();
  Uploads uploads(folder_ / "uploads", 4 * bytes.size());
  ASSERT_TRUE(uploads.open());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(uploads.add("m.onnx", bytes));
  EXPECT_EQ(kept(), 2U);
  net::ServerRequest head;
  head.content_length = 2 * bytes.size() + 1;
  EXPECT_EQ(uploads.plan(head, 1U << 30U, net::refusal).refusal->status, 413);
}

TEST_F(UploadsTest, models_that_come_at_once_take_no_more_room_than_others) {
  // Four megabytes of words about it, which take their time to be written.
  const std::string bytes = model() + "\x32\x80\x80\x80\x02" + std::string(4U << 20U, 'x');
  Uploads uploads(folder_ / "uploads", 3 * bytes.size());
  ASSERT_TRUE(uploads.open());
  for (int round = 0; round < 3; ++round) {
    std::vector<std::jthread> callers;
    callers.reserve(8);
    for (int i = 0; i < 8; ++i)
      callers.emplace_back([&] {
        const auto sent = uploads.add("m.onnx", bytes);
        EXPECT_TRUE(sent || sent.error().kind == ErrorKind::environment) << sent.error().message;
      });
    callers.clear();
    EXPECT_EQ(kept(), 1U);
  }
}

TEST_F(UploadsTest, one_caller_may_not_take_all_the_room) {
  Uploads uploads(folder_ / "uploads", 2000, 2);
  ASSERT_TRUE(uploads.open());
  const auto plan = [&](const std::string& address) {
    net::ServerRequest head;
    head.address = address;
    head.content_length = 10;
    return uploads.plan(head, 1000, net::refusal);
  };
  const auto first = plan("2001:db8::1");
  auto second = plan("2001:db8::2");
  ASSERT_FALSE(first.refusal || second.refusal);
  EXPECT_EQ(plan("2001:db8::3").refusal->status, 429);
  EXPECT_FALSE(plan("2001:db8:0:1::3").refusal) << "another network";
  second = {};
  EXPECT_FALSE(plan("2001:db8::3").refusal);
}

}  // namespace
}  // namespace assay::serve
