// SPDX-License-Identifier: Apache-2.0
// A real Prometheus finds us by the file of targets and scrapes the example.
#include "testing/example.h"
#include "testing/http_server.h"
#include "testing/prometheus.h"
#include "testing/temp_folder.h"
#include "testing/wait.h"

#include <fmt/format.h>
#include <string>
#include <vector>

#include <assay/promapi/target_file.h>
#include <gtest/gtest.h>

namespace assay::promapi {
namespace {

using net::testing::Connection;
using net::testing::HttpServer;

std::string header_of(const std::string& request, const std::string& name) {
  const std::string begin = "\r\n" + name + ": ";
  const size_t at = request.find(begin);
  if (at == request.npos) return "";
  const size_t from = at + begin.size();
  return request.substr(from, request.find("\r\n", from) - from);
}

/// Answers as the agent does: in the form that was asked for, compressed.
void serve_example(Connection& connection) {
  Exposition out;
  Gzip gzip;
  for (std::string request; !(request = connection.read_request()).empty();) {
    const auto agreed =
        negotiate(header_of(request, "Accept"), header_of(request, "Accept-Encoding"));
    const auto text = testing::write_example(out, agreed.format);
    const auto body = agreed.gzip ? gzip.compressed(text).value_or("") : text;
    connection.write(fmt::format(
        "HTTP/1.1 200 OK\r\nContent-Type: {}\r\n{}Content-Length: {}\r\n\r\n", agreed.content_type,
        agreed.gzip ? "Content-Encoding: gzip\r\n" : "", body.size()));
    connection.write(body);
  }
}

TEST(Scrape, PrometheusFindsUsAndReadsTheExample) {
  const testing::TempFolder folder;
  const auto server = HttpServer::on_loopback(serve_example);
  const std::vector<TargetGroup> groups{
      {{fmt::format("127.0.0.1:{}", server->port())}, {{"node", "n-1"}}}};
  ASSERT_TRUE(write_target_file(folder.path() / "targets.json", groups));
  testing::Prometheus prometheus(folder.path());
  ASSERT_TRUE(prometheus.start());
  const auto value = [&](const std::string& series) -> std::string {
    const auto result = prometheus.query(series);
    if (result.size() != 1) return fmt::format("{} series", result.size());
    return result[0]["value"][1].get<std::string>();
  };
  ASSERT_TRUE(testing::comes_true([&] { return value("up{node='n-1'}") == "1"; }));
  EXPECT_EQ(value("container_cpu_usage_seconds_total{id='/docker/1f',node='n-1'}"), "12.75");
  EXPECT_EQ(value("container_memory_working_set_bytes{image=\"a\\\"b\\\\c\\nd é\"}"), "1e+300");
  EXPECT_EQ(value("node_strange_value{v='nan'}"), "NaN");
  EXPECT_EQ(value("node_strange_value{v='low'}"), "-Inf");
  EXPECT_EQ(value("char_node_info{model='Jetson'}"), "1");
  EXPECT_EQ(value("assay_app_latency_seconds_bucket{le='1.0'}"), "4");
  EXPECT_EQ(value("assay_app_latency_seconds_bucket{le='1e+06'}"), "5");
  EXPECT_EQ(value("scrape_samples_scraped"), "16");
}

}  // namespace
}  // namespace assay::promapi
