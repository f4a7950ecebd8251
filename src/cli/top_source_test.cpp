// SPDX-License-Identifier: Apache-2.0
#include "top_source.h"

#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <fmt/format.h>
#include <poll.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <assay/net/http_server.h>
#include <gtest/gtest.h>

namespace assay::cli {
namespace {

/// What an agent would answer, on a real server of this machine.
class FakeAgent {
 public:
  explicit FakeAgent(net::HttpServer::Handler handler, int port = 0)
      : server_(loop_, std::move(handler)) {
    port_ = server_.listen(fmt::format("127.0.0.1:{}", port)).value_or(0);
    thread_ = std::jthread([this] { loop_.run(); });
  }
  FakeAgent(const FakeAgent&) = delete;
  FakeAgent& operator=(const FakeAgent&) = delete;
  ~FakeAgent() {
    loop_.stop();
    thread_.join();
  }

  int port() const { return port_; }
  std::string address() const { return fmt::format("127.0.0.1:{}", port_); }

 private:
  boost::asio::io_context loop_{1};
  net::HttpServer server_;
  int port_ = 0;
  std::jthread thread_;
};

net::HttpServer::Handler always(int status, const std::string& body) {
  return [=](const net::ServerRequest&) {
    net::ServerResponse response;
    response.status = status;
    response.body = body;
    return response;
  };
}

std::string table(const std::string& name) {
  return fmt::format(R"({{"apps": [{{"name": "{}"}}]}})", name);
}

/// Tells of an app of that name, again and again.
net::HttpServer::Handler stream_of(const std::string& name) {
  return [=](const net::ServerRequest&) {
    net::ServerResponse response;
    response.content_type = "text/event-stream";
    response.next = [=] { return "data: " + table(name) + "\n\n"; };
    response.body = response.next();
    response.interval = Milliseconds(10);
    return response;
  };
}

class TopSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"ASSAY_URL", "ASSAY_TOKEN", "XDG_RUNTIME_DIR"}) ::unsetenv(name);
  }
  void TearDown() override { SetUp(); }

  static std::string error_of(const std::string& url) {
    const auto answer = ask_agent(*agent_addresses(url, {}));
    return answer ? "" : answer.error().message;
  }
};

/// Waits for news that are so.
template <class Condition>
TopSource::News wait_for(TopSource& source, Condition condition) {
  constexpr int kPatience = 20'000;
  while (true) {
    pollfd one = {source.descriptor(), POLLIN, 0};
    if (::poll(&one, 1, kPatience) <= 0) {
      ADD_FAILURE() << "no news";
      return {};
    }
    if (auto news = source.take(); condition(news)) return news;
  }
}

TEST_F(TopSourceTest, an_address_may_be_a_url_a_host_or_a_socket) {
  const auto first = [](const std::string& url) { return agent_addresses(url, {})->front(); };
  EXPECT_EQ(first("pole-7:9410").endpoint.base, "http://pole-7:9410");
  EXPECT_EQ(first("https://pole-7/").endpoint.base, "https://pole-7");
  EXPECT_EQ(first("/run/a.sock").endpoint.unix_socket, "/run/a.sock");
  EXPECT_EQ(first("unix:///run/a.sock").endpoint.unix_socket, "/run/a.sock");
  EXPECT_EQ(first("https://me:word@pole-7").shown.find("word"), std::string::npos);
}

TEST_F(TopSourceTest, the_environment_names_an_agent_and_its_token) {
  ::setenv("ASSAY_URL", "pole-7:9410", 1);
  ::setenv("ASSAY_TOKEN", "abc", 1);
  const auto addresses = agent_addresses("", {});
  ASSERT_TRUE(addresses);
  ASSERT_EQ(addresses->size(), 1U);
  EXPECT_EQ(addresses->front().endpoint.base, "http://pole-7:9410");
  EXPECT_EQ(addresses->front().headers, std::vector<std::string>{"Authorization: Bearer abc"});
  ::setenv("ASSAY_TOKEN", "abc\nHost: x", 1);
  EXPECT_FALSE(agent_addresses("", {}));
}

TEST_F(TopSourceTest, asks_this_machine_when_nothing_is_named) {
  const auto addresses = agent_addresses("", {});
  ASSERT_TRUE(addresses);
  EXPECT_EQ(addresses->back().endpoint.base, "http://127.0.0.1:9410");
}

TEST_F(TopSourceTest, takes_the_first_agent_that_answers) {
  const FakeAgent agent(always(200, table("cam")));
  auto addresses = *agent_addresses("/nowhere/agent.sock", {});
  addresses.push_back(agent_addresses(agent.address(), {})->front());
  const auto answer = ask_agent(addresses);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->address.shown, "http://" + agent.address());
  EXPECT_EQ(answer->document.apps.front().name, "cam");
}

TEST_F(TopSourceTest, says_what_to_do_when_it_gets_no_table) {
  const FakeAgent closed(always(401, ""));
  EXPECT_EQ(error_of(closed.address()),
            fmt::format("the agent at http://{} wants a token: name its file with --token-file, "
                        "or set ASSAY_TOKEN",
                        closed.address()));
  const FakeAgent other(always(404, ""));
  EXPECT_EQ(
      error_of(other.address()),
      fmt::format("http://{} answered with status 404: is it an assay-agent?", other.address()));
  const FakeAgent page(always(200, "<html>"));
  EXPECT_EQ(error_of(page.address()),
            fmt::format("what answers at http://{} is no assay-agent: name another with --url",
                        page.address()));
}

TEST_F(TopSourceTest, shows_the_token_to_the_agent) {
  ::setenv("ASSAY_TOKEN", "abc", 1);
  const FakeAgent agent([](const net::ServerRequest& request) {
    return always(request.authorization == "Bearer abc" ? 200 : 401, table("cam"))(request);
  });
  EXPECT_EQ(error_of(agent.address()), "");
  ::setenv("ASSAY_TOKEN", "other", 1);
  EXPECT_EQ(error_of(agent.address()),
            fmt::format("the agent at http://{} refused this token: name another file with "
                        "--token-file, or set ASSAY_TOKEN",
                        agent.address()));
}

TEST_F(TopSourceTest, follows_the_stream_and_begins_again_after_a_break) {
  auto agent = std::make_unique<FakeAgent>(stream_of("before"));
  const int port = agent->port();
  TopSource source(agent_addresses(agent->address(), {})->front());
  const auto is = [](const char* name) {
    return [name](const TopSource::News& news) {
      return news.document && news.document->apps.front().name == name;
    };
  };
  EXPECT_TRUE(wait_for(source, is("before")).connected);
  agent.reset();
  EXPECT_FALSE(wait_for(source, [](const auto& news) { return !news.connected; }).connected);
  agent = std::make_unique<FakeAgent>(stream_of("after"), port);
  EXPECT_TRUE(wait_for(source, is("after")).connected);
}

TEST_F(TopSourceTest, tells_why_an_agent_refuses_the_stream) {
  const FakeAgent agent(always(401, ""));
  TopSource source(agent_addresses(agent.address(), {})->front());
  const auto news = wait_for(source, [](const auto& now) { return !now.reason.empty(); });
  EXPECT_NE(news.reason.find("wants a token"), std::string::npos);
}

}  // namespace
}  // namespace assay::cli
