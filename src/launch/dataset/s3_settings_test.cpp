// SPDX-License-Identifier: Apache-2.0
#include "dataset/s3_settings.h"

#include "dataset/testing/script_server.h"
#include "process/testing.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

using testing::ScopedVariable;
using testing::TempFolder;

constexpr const char* kFile = R"(
# a comment
[default]
aws_access_key_id = dummy-key
aws_secret_access_key=dummy-secret=with=signs

[ lab ]
aws_access_key_id = dummy-lab
aws_secret_access_key = dummy-lab-secret
aws_session_token = dummy-token
region = somewhere

[half]
aws_access_key_id = dummy
)";

class S3SettingsTest : public ::testing::Test {
 protected:
  S3SettingsTest() {
    for (const char* name :
         {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION",
          "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"}) {
      ::unsetenv(name);
    }
    folder_.write("credentials", kFile);
  }

  TempFolder folder_;
  ScopedVariable file_{"AWS_SHARED_CREDENTIALS_FILE", (folder_.path() / "credentials").native()};
};

TEST(S3Address, HasABucketAndAPrefix) {
  const auto address = parse_s3_address("s3://weather-2024/a/b/");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->bucket, "weather-2024");
  EXPECT_EQ(address->prefix, "a/b/");
  EXPECT_EQ(parse_s3_address("s3://weather")->prefix, "");
  for (const char* bad :
       {"s3://", "s3:///x", "s3://a/x", "s3://A_B/x", "s3://me:pw@host/x", "s3://../x"})
    EXPECT_FALSE(parse_s3_address(bad)) << bad;
}

TEST(S3Credentials, ComeFromTheirProfile) {
  const auto usual = credentials_in(kFile, "default");
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->access_key, "dummy-key");
  EXPECT_EQ(usual->secret_key, "dummy-secret=with=signs");
  EXPECT_EQ(usual->session_token, "");
  EXPECT_EQ(credentials_in(kFile, "lab")->session_token, "dummy-token");
  EXPECT_FALSE(credentials_in(kFile, "half"));
  EXPECT_FALSE(credentials_in(kFile, "none"));
}

TEST_F(S3SettingsTest, DefaultsAreAmazonAndTheDefaultProfile) {
  const auto settings = s3_settings();
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->endpoint, "https://s3.us-east-1.amazonaws.com");
  EXPECT_EQ(settings->signing->access_key, "dummy-key");
  EXPECT_EQ(settings->signing->region, "us-east-1");
}

TEST_F(S3SettingsTest, VariablesGoFirst) {
  const ScopedVariable general("AWS_ENDPOINT_URL", "http://general");
  const ScopedVariable special("AWS_ENDPOINT_URL_S3", "http://special:9000/");
  const ScopedVariable fallback("AWS_DEFAULT_REGION", "fallback");
  const ScopedVariable region("AWS_REGION", "here");
  const ScopedVariable key("AWS_ACCESS_KEY_ID", "dummy-other");
  const ScopedVariable secret("AWS_SECRET_ACCESS_KEY", "dummy-other-secret");
  const ScopedVariable token("AWS_SESSION_TOKEN", "dummy-other-token");
  const auto settings = s3_settings();
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->endpoint, "http://special:9000");
  EXPECT_EQ(settings->signing->region, "here");
  EXPECT_EQ(settings->signing->access_key, "dummy-other");
  EXPECT_EQ(settings->signing->session_token, "dummy-other-token");
}

TEST_F(S3SettingsTest, ProfileIsChosenByName) {
  {
    const ScopedVariable profile("AWS_PROFILE", "lab");
    EXPECT_EQ(s3_settings()->signing->access_key, "dummy-lab");
  }
  const ScopedVariable profile("AWS_PROFILE", "none");
  const auto settings = s3_settings();
  ASSERT_FALSE(settings);
  EXPECT_NE(settings.error().message.find("profile 'none'"), std::string::npos);
}

TEST_F(S3SettingsTest, NobodyAsksWithoutCredentials) {
  folder_.write("credentials", "");
  const auto settings = s3_settings();
  ASSERT_TRUE(settings);
  EXPECT_FALSE(settings->signing);
}

}  // namespace
}  // namespace assay::launch
