// SPDX-License-Identifier: Apache-2.0
#include "testing/read_request.h"

#include <snappy.h>
#include <string>
#include <utility>
#include <vector>

#include <assay/promapi/remote_write.h>
#include <gtest/gtest.h>

namespace assay::promapi {
namespace {

using testing::bits;
using testing::read_request;
using testing::ReadSeries;

Timestamp at_ms(int64_t ms) {
  return Timestamp(Milliseconds(ms));
}

TEST(WriteRequest, HasSortedLabelsAndMilliseconds) {
  const SeriesLabels fps("app.fps", {{"pod", ""}, {"id", "/x"}, {"App", "a"}, {"zone", "\xFF"}});
  WriteRequest request;
  request.start();
  const std::vector<TimedValue> values{{at_ms(1'700'000'000'123), 0.1}, {at_ms(-5), -2}};
  request.add(fps, values);
  request.add(fps, {});
  request.add(SeriesLabels("up", {}), at_ms(7), stale_marker());
  EXPECT_EQ(request.samples(), 3U);
  const std::vector<ReadSeries> expected{
      {{{"App", "a"}, {"__name__", "app_fps"}, {"id", "/x"}, {"zone", "?"}},
       {{1'700'000'000'123, bits(0.1)}, {-5, bits(-2)}}},
      {{{"__name__", "up"}}, {{7, 0x7ff0000000000002}}}};
  EXPECT_EQ(read_request(request.finish()), expected);
}

TEST(WriteRequest, IsByteForByteWhatTheMessagesSay) {
  WriteRequest request;
  request.start();
  request.add(SeriesLabels("up", {{"a", "b"}}), at_ms(300), 1);
  const std::string_view compressed = request.finish();
  std::string bytes;
  ASSERT_TRUE(snappy::Uncompress(compressed.data(), compressed.size(), &bytes));
  const std::string expected(
      "\x0A\x26"
      "\x0A\x0E\x0A\x08__name__\x12\x02up"
      "\x0A\x06\x0A\x01"
      "a\x12\x01"
      "b"
      "\x12\x0C\x09\x00\x00\x00\x00\x00\x00\xF0\x3F\x10\xAC\x02",
      40);
  EXPECT_EQ(bytes, expected);
}

TEST(WriteRequest, ALabelCannotReplaceTheName) {
  WriteRequest request;
  request.start();
  request.add(SeriesLabels("mine", {{"__name__", "other"}}), at_ms(0), 1);
  const std::vector<std::pair<std::string, std::string>> expected{{"__name__", "mine"},
                                                                  {"_name__", "other"}};
  EXPECT_EQ(read_request(request.finish()).front().labels, expected);
}

TEST(WriteRequest, StartsAnew) {
  WriteRequest request;
  request.start();
  request.add(SeriesLabels("old", {}), at_ms(1), 1);
  request.finish();
  request.start();
  EXPECT_EQ(request.samples(), 0U);
  EXPECT_TRUE(read_request(request.finish()).empty());
}

}  // namespace
}  // namespace assay::promapi
