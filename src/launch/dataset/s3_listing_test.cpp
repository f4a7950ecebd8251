// SPDX-License-Identifier: Apache-2.0
#include "dataset/s3_listing.h"

#include <gtest/gtest.h>

namespace assay::launch {
namespace {

std::string listing(const std::string& inside) {
  return R"(<?xml version="1.0" encoding="UTF-8"?>)"
         R"(<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">)" +
         inside + "</ListBucketResult>";
}

TEST(S3Listing, ReadsObjectsAndTheNextPagesToken) {
  const auto page = parse_s3_page(
      listing("<Name>b</Name><IsTruncated>true</IsTruncated><NextContinuationToken>t&amp;1</"
              "NextContinuationToken>"
              "<Contents><Key>a&lt;b/ü</Key><Size>12</Size><ETag>&quot;e1&quot;</ETag></Contents>"
              "<Contents><Key>c</Key><LastModified>x</LastModified><Size>0</Size></Contents>"
              "<CommonPrefixes><Prefix>no/</Prefix></CommonPrefixes>"));
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_EQ(page->next, "t&1");
  ASSERT_EQ(page->objects.size(), 2U);
  EXPECT_EQ(page->objects[0].key, "a<b/ü");
  EXPECT_EQ(page->objects[0].size, 12U);
  EXPECT_EQ(page->objects[0].tag, "\"e1\"");
  EXPECT_EQ(page->objects[1].key, "c");
  EXPECT_EQ(page->objects[1].tag, "");
}

TEST(S3Listing, DecodesKeysOnlyWhenTheyAreEncoded) {
  const std::string contents = "<Contents><Key>a+b%2B%c3%BC%zz%4</Key><Size>1</Size></Contents>";
  const auto plain = parse_s3_page(listing(contents));
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->objects[0].key, "a+b%2B%c3%BC%zz%4");
  const auto encoded = parse_s3_page(listing(contents + "<EncodingType>url</EncodingType>"));
  ASSERT_TRUE(encoded);
  EXPECT_EQ(encoded->objects[0].key, "a b+ü%zz%4");
}

TEST(S3Listing, LastPageHasNoNext) {
  const auto page = parse_s3_page(
      listing("<IsTruncated>false</IsTruncated><NextContinuationToken>t</NextContinuationToken>"));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->next, "");
}

TEST(S3Listing, WhatIsNoListingIsAnError) {
  EXPECT_FALSE(parse_s3_page(""));
  EXPECT_FALSE(parse_s3_page("<html>"));
  EXPECT_FALSE(parse_s3_page("<html></html>"));
  EXPECT_FALSE(parse_s3_page(listing("<IsTruncated>true</IsTruncated>")));
  EXPECT_FALSE(parse_s3_page(listing("<Contents><Size>1</Size></Contents>")));
  EXPECT_FALSE(parse_s3_page(listing("<Contents><Key>a</Key><Size>-1</Size></Contents>")));
  EXPECT_FALSE(parse_s3_page(listing("<Contents><Key>a</Key></Contents>")));
  EXPECT_FALSE(
      parse_s3_page(listing("<Contents><Key>" + std::string(9000, 'a') + "</Key></Contents>")));
}

TEST(S3Listing, DocumentsThatDefineEntitiesAreRefused) {
  EXPECT_FALSE(
      parse_s3_page(R"(<!DOCTYPE x [<!ENTITY e "aaaa">]><ListBucketResult></ListBucketResult>)"));
}

TEST(S3Listing, DeepDocumentsAreRefused) {
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "<a>";
  for (int i = 0; i < 100; ++i) deep += "</a>";
  EXPECT_FALSE(parse_s3_page(listing(deep)));
}

TEST(S3ErrorCode, IsAPlainWordOrNothing) {
  EXPECT_EQ(s3_error_code("<Error><Code>NoSuchBucket</Code><Message>m</Message></Error>"),
            "NoSuchBucket");
  EXPECT_EQ(s3_error_code("<Error><Code>\x1b[31m bad</Code></Error>"), "");
  EXPECT_EQ(s3_error_code("<Error><Code>a b</Code></Error>"), "");
  EXPECT_EQ(s3_error_code("no xml"), "");
}

}  // namespace
}  // namespace assay::launch
