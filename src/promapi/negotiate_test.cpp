// SPDX-License-Identifier: Apache-2.0
#include <assay/promapi/exposition.h>
#include <gtest/gtest.h>

namespace assay::promapi {
namespace {

bool gets_openmetrics(std::string_view accept) {
  return negotiate(accept, "").format == TextFormat::openmetrics;
}

bool gets_gzip(std::string_view accept_encoding) {
  return negotiate("", accept_encoding).gzip;
}

TEST(Negotiate, PrometheusGetsOpenMetricsCompressed) {
  // As Prometheus 2.42 asks.
  const auto agreed = negotiate(
      "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
      "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
      "gzip");
  EXPECT_EQ(agreed.format, TextFormat::openmetrics);
  EXPECT_EQ(agreed.content_type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_TRUE(agreed.gzip);
}

TEST(Negotiate, APrometheusThatAlsoTakesProtobufAndEscapesGetsOpenMetrics) {
  EXPECT_TRUE(gets_openmetrics(
      "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;"
      "q=0.6,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
      "application/openmetrics-text;version=0.0.1;q=0.4,"
      "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,"
      "*/*;q=0.1"));
}

TEST(Negotiate, WhoDoesNotNameOpenMetricsGetsTheClassicText) {
  const auto agreed = negotiate("", "");
  EXPECT_EQ(agreed.format, TextFormat::classic);
  EXPECT_EQ(agreed.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_FALSE(agreed.gzip);
  for (const std::string_view accept :
       {"*/*", "text/*", "application/*", "text/html,application/xhtml+xml,*/*;q=0.8",
        "application/json", "text/plain;version=0.0.4", ";;;,,,=;q=", "q=1", "openmetrics"})
    EXPECT_FALSE(gets_openmetrics(accept)) << accept;
}

TEST(Negotiate, WeightsDecide) {
  EXPECT_TRUE(gets_openmetrics("text/plain;q=0.5, Application/OpenMetrics-Text ; Q=0.5"));
  EXPECT_FALSE(gets_openmetrics("text/plain, application/openmetrics-text; q=0.9"));
  EXPECT_TRUE(gets_openmetrics("text/plain;version=1.0.0, application/openmetrics-text; q=0.9"));
  EXPECT_FALSE(gets_openmetrics("application/openmetrics-text;q=0"));
  EXPECT_FALSE(gets_openmetrics("application/openmetrics-text;q=nan"));
  EXPECT_FALSE(gets_openmetrics("application/openmetrics-text;q=-1"));
  EXPECT_FALSE(gets_openmetrics("application/openmetrics-text;version=2.0.0"));
}

TEST(Negotiate, CompressesOnlyWhenThatIsTaken) {
  EXPECT_TRUE(gets_gzip("deflate, GZIP;q=0.5"));
  EXPECT_TRUE(gets_gzip("*"));
  EXPECT_FALSE(gets_gzip("*, gzip;q=0"));
  EXPECT_FALSE(gets_gzip("gzip;q=0, *"));
  EXPECT_FALSE(gets_gzip("*;q=0"));
  EXPECT_FALSE(gets_gzip("br, identity"));
  EXPECT_FALSE(gets_gzip("gzip;q=often"));
}

}  // namespace
}  // namespace assay::promapi
