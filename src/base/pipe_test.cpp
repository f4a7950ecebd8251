// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <fcntl.h>
#include <unistd.h>

#include <assay/base/pipe.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(Pipe, what_is_written_is_read_until_the_end) {
  auto pipe = make_pipe();
  ASSERT_TRUE(pipe) << pipe.error().message;
  ASSERT_TRUE(write_all(pipe->write.get(), "word"));
  pipe->write.reset();
  std::array<char, 16> buffer{};
  EXPECT_EQ(::read(pipe->read.get(), buffer.data(), buffer.size()), 4);
  EXPECT_EQ(std::string_view(buffer.data()), "word");
  EXPECT_EQ(::read(pipe->read.get(), buffer.data(), buffer.size()), 0);
}

TEST(Pipe, programs_that_are_started_have_no_end_of_it) {
  const auto pipe = make_pipe();
  ASSERT_TRUE(pipe) << pipe.error().message;
  for (const int end : {pipe->read.get(), pipe->write.get()})
    EXPECT_EQ(::fcntl(end, F_GETFD), FD_CLOEXEC);
}

}  // namespace
}  // namespace assay
