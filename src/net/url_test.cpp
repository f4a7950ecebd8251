// SPDX-License-Identifier: Apache-2.0
#include <assay/net/http_client.h>
#include <gtest/gtest.h>

namespace assay::net {
namespace {

TEST(UrlEncoded, KeepsOnlyWhatNeedsNoEncoding) {
  EXPECT_EQ(url_encoded("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(url_encoded("a b/c+d=e&f%ü*'"), "a%20b%2Fc%2Bd%3De%26f%25%C3%BC%2A%27");
  EXPECT_EQ(url_encoded("a b/c", "/"), "a%20b/c");
}

TEST(ShownUrl, HidesUserPasswordAndQuery) {
  EXPECT_EQ(shown_url("https://me:dummy@host:1/a/b?sig=dummy#x"), "https://host:1/a/b");
  EXPECT_EQ(shown_url("https://me:dum@my@host/a@b"), "https://host/a@b");
  EXPECT_EQ(shown_url("https://host/a"), "https://host/a");
  EXPECT_EQ(shown_url("/only/a/path?token=dummy"), "/only/a/path");
}

TEST(IsLoopbackUrl, KnowsThisMachine) {
  EXPECT_TRUE(is_loopback_url("http://localhost/x"));
  EXPECT_TRUE(is_loopback_url("http://127.0.0.1:80"));
  EXPECT_TRUE(is_loopback_url("http://127.9.9.9/"));
  EXPECT_TRUE(is_loopback_url("http://[::1]:8080/x"));
}

TEST(IsLoopbackUrl, IsNotFooledByNamesThatLookLikeIt) {
  EXPECT_FALSE(is_loopback_url("http://127.0.0.1.example.org/"));
  EXPECT_FALSE(is_loopback_url("http://localhost.example.org/"));
  EXPECT_FALSE(is_loopback_url("http://localhost@example.org/"));
  EXPECT_FALSE(is_loopback_url("http://example.org/http://localhost"));
  EXPECT_FALSE(is_loopback_url("localhost"));
  EXPECT_FALSE(is_loopback_url(""));
}

}  // namespace
}  // namespace assay::net
