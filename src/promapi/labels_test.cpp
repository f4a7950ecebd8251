// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <assay/promapi/labels.h>
#include <gtest/gtest.h>

namespace assay::promapi {
namespace {

TEST(Labels, AreSortedAndEscapedAndEmptyOnesLeftOut) {
  const LabelText labels({{"pod", ""}, {"name", "a\"b"}, {"id", "/x\\y"}, {"image", "l1\nl2"}});
  EXPECT_EQ(labels.text(), R"(id="/x\\y",image="l1\nl2",name="a\"b")");
  EXPECT_EQ(LabelText().text(), "");
  EXPECT_EQ(LabelText({{"pod", ""}}).text(), "");
}

TEST(Labels, OfTwoWithOneNameTheFirstStays) {
  EXPECT_EQ(LabelText({{"a.b", "first"}, {"a_b", "second"}}).text(), "a_b=\"first\"");
  std::vector<Label> many(40, {"x", "later"});
  many.front().value = "first";
  EXPECT_EQ(LabelText(many).text(), "x=\"first\"");
}

TEST(Labels, NamesAreMadeValid) {
  EXPECT_EQ(sanitized_name("node:cpu_9"), "node:cpu_9");
  EXPECT_EQ(sanitized_name("frames/s (é)"), "frames_s_____");
  EXPECT_EQ(sanitized_name("9lives"), "_9lives");
  EXPECT_EQ(sanitized_name(""), "_");
  EXPECT_EQ(sanitized_label_name("io.kubernetes:pod"), "io_kubernetes_pod");
  EXPECT_EQ(sanitized_label_name("__name__"), "_name__");
  EXPECT_EQ(sanitized_label_name("_own"), "_own");
  EXPECT_EQ(sanitized_label_name("___"), "_");
  EXPECT_EQ(sanitized_label_name(""), "_");
}

TEST(Labels, BytesThatAreNotUtf8AreReplaced) {
  const std::string r = "?";
  EXPECT_EQ(valid_utf8("plain, ü, 漢, 🚀"), "plain, ü, 漢, 🚀");
  EXPECT_EQ(valid_utf8("a\x80z"), "a" + r + "z");
  EXPECT_EQ(valid_utf8("cut \xE6\xBC"), "cut " + r + r);
  EXPECT_EQ(valid_utf8("\xC0\xAF"), r + r) << "overlong, two bytes";
  EXPECT_EQ(valid_utf8("\xE0\x80\xAF"), r + r + r) << "overlong, three bytes";
  EXPECT_EQ(valid_utf8("\xF0\x80\x80\xAF"), r + r + r + r) << "overlong, four bytes";
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), r + r + r) << "a surrogate";
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), r + r + r + r) << "beyond U+10FFFF";
  EXPECT_EQ(valid_utf8("\xF4\x8F\xBF\xBF"), "\xF4\x8F\xBF\xBF") << "U+10FFFF";
  EXPECT_EQ(valid_utf8("\xFF"), r);
  EXPECT_EQ(LabelText({{"a", "\xFF"}}).text(), "a=\"" + r + "\"");
}

}  // namespace
}  // namespace assay::promapi
