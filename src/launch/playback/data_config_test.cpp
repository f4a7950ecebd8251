// SPDX-License-Identifier: Apache-2.0
#include "playback/data_config.h"

#include <nlohmann/json.hpp>
#include <vector>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

std::vector<Stream> streams_of(const std::vector<std::string>& ids) {
  std::vector<Stream> streams;
  streams.reserve(ids.size() + 1);
  for (const std::string& id : ids) streams.push_back({id, "", StreamKind::video});
  return streams;
}

std::string id_of(const std::string& id, const std::vector<std::string>& others = {}) {
  auto streams = streams_of(others);
  streams.push_back({id, "", StreamKind::video});
  const Json list = data_config_of(streams, [](const std::string&) { return ""; });
  return list.back()["match"]["id"];
}

TEST(DataConfig, lists_each_stream_with_its_handler) {
  const std::vector<Stream> streams = {{"top_live", "", StreamKind::video},
                                       {"bottom", "", StreamKind::image},
                                       {"mic", "", StreamKind::audio}};
  const Json list = data_config_of(streams, [](const std::string& id) { return "http://h/" + id; });
  EXPECT_EQ(
      list.dump(),
      R"([{"match":{"id":"top_live"},"handler":{"type":"video","args":{"url":"http://h/top_live"}}},)"
      R"({"match":{"id":"bottom"},"handler":{"type":"image","args":{"url":"http://h/bottom"}}},)"
      R"({"match":{"id":"mic"},"handler":{"type":"audio","args":{"url":"http://h/mic"}}}])");
}

TEST(DataConfig, matches_only_the_id_that_is_meant) {
  EXPECT_EQ(id_of("cam.1 (left)+"), R"(cam\.1 \(left\)\+)");
  EXPECT_EQ(id_of("top-left_2"), "top-left_2");
  EXPECT_EQ(id_of("top", {"top_live", "bottom"}), "top$");
  EXPECT_EQ(id_of("top_live", {"top"}), "top_live");
}

TEST(DataConfig, wants_ids_that_differ) {
  EXPECT_TRUE(check_ids(streams_of({"a", "b"})));
  const auto twice = check_ids(streams_of({"a", "b", "a"}));
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("have the id 'a'"), std::string::npos);
}

TEST(DataConfig, encodes_ids_for_urls_and_back) {
  const std::string id = "a/b?c=d e%41\xc3\xa4~";
  EXPECT_EQ(url_encoded(id), "a%2Fb%3Fc%3Dd%20e%2541%C3%A4~");
  EXPECT_EQ(url_decoded(url_encoded(id)), id);
  EXPECT_EQ(url_decoded("%zz%4"), "%zz%4");
  EXPECT_EQ(url_decoded("%4"), "%4");
  EXPECT_EQ(url_decoded("%41"), "A");
}

}  // namespace
}  // namespace assay::launch
