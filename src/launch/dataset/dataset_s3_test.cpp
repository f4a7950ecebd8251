// SPDX-License-Identifier: Apache-2.0
// Against OpenStack Swift with its S3 interface, which checks every signature.
#include "dataset/testing/script_server.h"
#include "process/testing.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include <assay/launch/dataset.h>
#include <gtest/gtest.h>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;
using testing::ScopedVariable;
using testing::ScriptServer;
using testing::TempFolder;

bool go_on(uint64_t, std::optional<uint64_t>) {
  return true;
}

class S3Dataset : public ::testing::Test {
 protected:
  std::string text(const char* name) const { return server_.facts()[name].get<std::string>(); }
  Result<Dataset> fetch(const std::string& source) const {
    return fetch_dataset({source}, {.folder = folder_.path() / "cache"}, go_on);
  }
  static std::vector<std::string> files_below(const fs::path& folder) {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) found.push_back(fs::relative(entry.path(), folder).native());
    std::sort(found.begin(), found.end());
    return found;
  }
  static std::string objects(const TempFolder& folder) {
    nlohmann::json all = {{"weather/bad/../x", "1"}, {"weather/single.bin", "alone"}};
    for (const char* key : kKeys) all[std::string("weather/cam/") + key] = key;
    all["weather/camera/other"] = "not below the prefix";
    folder.write("objects.json", all.dump());
    return (folder.path() / "objects.json").native();
  }

  static constexpr std::array kKeys = {"a b",     "c+d&e=f", "ü/ö (1).jpg", "plain/1",
                                       "plain/2", "q?r#s",   "t%20u",       "v~w'x*y!"};
  TempFolder folder_;
  ScriptServer server_{"swift_store.py", {objects(folder_)}};
  ScopedVariable endpoint_{"AWS_ENDPOINT_URL_S3", text("endpoint")};
  ScopedVariable region_{"AWS_REGION", text("region")};
  ScopedVariable key_{"AWS_ACCESS_KEY_ID", text("access_key")};
};

TEST_F(S3Dataset, FetchesAllObjectsBelowAPrefixOnce) {
  {
    const ScopedVariable secret("AWS_SECRET_ACCESS_KEY", "dummy-wrong");
    const auto dataset = fetch("s3://weather/cam");
    ASSERT_FALSE(dataset);
    const std::string words = dataset.error().message;
    EXPECT_NE(words.find("403 SignatureDoesNotMatch; check the credentials"), std::string::npos)
        << words;
    EXPECT_EQ(words.find("dummy"), std::string::npos);
    EXPECT_EQ(words.find(text("access_key")), std::string::npos);
  }
  const ScopedVariable secret("AWS_SECRET_ACCESS_KEY", text("secret_key"));
  fs::path first;
  {
    const auto dataset = fetch("s3://weather/cam");
    ASSERT_TRUE(dataset) << dataset.error().message;
    std::vector<std::string> expected(kKeys.begin(), kKeys.end());
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(files_below(dataset->path()), expected);
    for (const std::string& key : expected)
      EXPECT_EQ(read_file(dataset->path() / key).value_or("none"), key);
    first = dataset->path();
  }
  ASSERT_TRUE(write_file(first / "mark", ""));
  const auto again = fetch("s3://weather/cam");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(fs::exists(again->path() / "mark"));
  EXPECT_FALSE(again->digest().empty());

  const auto single = fetch("s3://weather/single.bin");
  ASSERT_TRUE(single) << single.error().message;
  EXPECT_EQ(single->path().filename(), "single.bin");
  EXPECT_EQ(read_file(single->path()).value(), "alone");

  const ScopedVariable token("AWS_SESSION_TOKEN", "dummy-token");
  EXPECT_TRUE(fetch("s3://weather/cam/plain/"));

  const auto unsafe = fetch("s3://weather/bad");
  ASSERT_FALSE(unsafe);
  EXPECT_NE(unsafe.error().message.find("bad/../x"), std::string::npos) << unsafe.error().message;
  const auto empty = fetch("s3://weather/none");
  ASSERT_FALSE(empty);
  EXPECT_NE(empty.error().message.find("has no objects"), std::string::npos);
  const auto missing = fetch("s3://nowhere/x");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("NoSuchBucket"), std::string::npos)
      << missing.error().message;
}

TEST(S3Access, WithoutCredentialsItSaysWhatToSet) {
  const TempFolder folder;
  const ScriptServer server("data_server.py", {folder.path().native()});
  const ScopedVariable endpoint(
      "AWS_ENDPOINT_URL_S3", fmt::format("http://127.0.0.1:{}", server.facts()["port"].get<int>()));
  const ScopedVariable no_file("AWS_SHARED_CREDENTIALS_FILE", "/none");
  const auto nobody =
      fetch_dataset({"s3://forbidden/x"}, {.folder = folder.path() / "cache"}, go_on);
  ASSERT_FALSE(nobody);
  EXPECT_NE(nobody.error().message.find("403; set AWS_ACCESS_KEY_ID"), std::string::npos)
      << nobody.error().message;
}

}  // namespace
}  // namespace assay::launch
