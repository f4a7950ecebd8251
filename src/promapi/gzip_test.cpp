// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <zlib.h>

#include <assay/promapi/exposition.h>
#include <gtest/gtest.h>

namespace assay::promapi {
namespace {

std::string unpacked(std::string_view bytes, size_t size) {
  std::string text(size + 1, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string in(bytes);
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

/// Text that does not get shorter.
std::string noise(size_t size) {
  std::string text(size, ' ');
  uint32_t state = 1;
  for (char& c : text) {
    state = state * 1664525U + 1013904223U;
    c = static_cast<char>(state >> 24U);
  }
  return text;
}

TEST(Gzip, OneTextAfterTheOtherComesOutAsItWentIn) {
  Gzip gzip;
  for (const std::string& text : {noise(3'000'000), std::string("short"), std::string(),
                                  std::string(5'000'000, 'x'), noise(200'000)}) {
    const auto packed = gzip.compressed(text);
    ASSERT_TRUE(packed) << packed.error().message;
    EXPECT_TRUE(unpacked(*packed, text.size()) == text) << text.size();
  }
}

}  // namespace
}  // namespace assay::promapi
