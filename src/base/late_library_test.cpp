// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <assay/base/late_library.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(LateLibrary, gives_the_functions_of_a_library) {
  LateLibrary library("libm.so.6");
  double (*root)(double) = nullptr;
  library.find(root, "sqrt");
  ASSERT_TRUE(library.loaded());
  EXPECT_EQ(root(49.0), 7.0);
}

TEST(LateLibrary, that_is_not_there_is_named) {
  LateLibrary library("libassay-nosuch.so.9");
  double (*root)(double) = nullptr;
  library.find(root, "sqrt");
  EXPECT_EQ(root, nullptr);
  ASSERT_FALSE(library.loaded());
  EXPECT_EQ(library.loaded().error().kind, ErrorKind::environment);
  EXPECT_NE(library.loaded().error().message.find("libassay-nosuch.so.9"), std::string::npos);
}

TEST(LateLibrary, that_lacks_a_function_is_not_loaded) {
  LateLibrary library("libm.so.6");
  double (*nothing)(double) = nullptr;
  library.find(nothing, "assay_nosuch_function");
  ASSERT_FALSE(library.loaded());
  EXPECT_NE(library.loaded().error().message.find("assay_nosuch_function"), std::string::npos);
}

}  // namespace
}  // namespace assay
