// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include <assay/base/result.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return bad_input("odd");
  return n / 2;
}

Result<int> quarter(int n) {
  ASSAY_TRY(const int h, half(n));
  return half(h);
}

Result<void> check_even(int n) {
  ASSAY_CHECK(half(n));
  return {};
}

TEST(Result, passes_values_and_errors_on) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error().message, "odd");
  EXPECT_EQ(quarter(6).error().kind, ErrorKind::input);
  EXPECT_TRUE(check_even(2));
  EXPECT_FALSE(check_even(3));
}

TEST(Result, errno_becomes_words) {
  const Result<int> r = refused_errno("cannot open x", ENOENT);
  EXPECT_EQ(r.error().message, "cannot open x: No such file or directory");
}

}  // namespace
}  // namespace assay
