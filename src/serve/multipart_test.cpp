// SPDX-License-Identifier: Apache-2.0
#include "multipart.h"

#include <gtest/gtest.h>

namespace assay::serve {
namespace {

constexpr std::string_view kType = "multipart/form-data; boundary=xyz";

TEST(Multipart, parts_with_names_and_files) {
  const std::string body =
      "--xyz\r\nContent-Disposition: form-data; name=\"model_input_size\"\r\n\r\n602112\r\n"
      "--xyz\r\ncontent-disposition: form-data; name=file; filename=\"a \\\"b\\\".onnx\"\r\n"
      "Content-Type: application/octet-stream\r\n\r\n\x08\x07\r\n--xy\r\n"
      "--xyz--\r\n";
  const auto parts = parse_multipart(kType, body);
  ASSERT_TRUE(parts) << parts.error().message;
  ASSERT_EQ(parts->size(), 2U);
  EXPECT_EQ((*parts)[0].name, "model_input_size");
  EXPECT_EQ((*parts)[0].data, "602112");
  EXPECT_EQ((*parts)[0].filename, "");
  EXPECT_EQ((*parts)[1].name, "file");
  EXPECT_EQ((*parts)[1].filename, "a \"b\".onnx");
  EXPECT_EQ((*parts)[1].data, "\x08\x07\r\n--xy");
}

TEST(Multipart, the_boundary_may_be_quoted_and_come_after_others) {
  EXPECT_TRUE(
      parse_multipart("Multipart/Form-Data; charset=utf-8; boundary=\"x y\"",
                      "--x y\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--x y--"));
}

TEST(Multipart, what_is_none_is_an_error) {
  const auto message = [](std::string_view type, std::string_view body) {
    const auto parts = parse_multipart(type, body);
    return parts ? "fine" : parts.error().message;
  };
  EXPECT_EQ(message("application/json", "{}"), "the request must be of type multipart/form-data");
  EXPECT_EQ(message("multipart/form-data", ""), "the form's type names no boundary");
  EXPECT_EQ(message(kType, ""), "the form has no parts");
  EXPECT_EQ(message(kType, "--xyz\r\nContent-Disposition: form-data; name=a\r\n\r\n1"),
            "the form ends in the middle of a part");
  EXPECT_EQ(message(kType, "--xyz\r\nX: y\r\n\r\n1\r\n--xyz--"), "a part of the form has no name");
  EXPECT_EQ(message(kType, "--xyz\r\nX: y"), "a part of the form has no end of its head");
  std::string many;
  for (int i = 0; i < 17; ++i)
    many += "--xyz\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n";
  EXPECT_EQ(message(kType, many + "--xyz--"), "the form has too many parts");
}

TEST(SafeFilename, leads_nowhere) {
  EXPECT_EQ(safe_filename("resnet-50.v1.onnx"), "resnet-50.v1.onnx");
  EXPECT_EQ(safe_filename("../../etc/passwd"), "passwd");
  EXPECT_EQ(safe_filename("C:\\models\\a b.onnx"), "a_b.onnx");
  EXPECT_EQ(safe_filename(".bashrc"), "bashrc");
  EXPECT_EQ(safe_filename("\x1b[2J"), "__2J");
  EXPECT_EQ(safe_filename(""), "model.onnx");
  EXPECT_EQ(safe_filename("a/"), "model.onnx");
}

}  // namespace
}  // namespace assay::serve
