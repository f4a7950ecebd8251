// SPDX-License-Identifier: Apache-2.0
#include "authorization.h"
#include "remote_writer.h"
#include "testing/http_server.h"
#include "testing/receiver.h"
#include "testing/temp_folder.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include <assay/promapi/remote_write.h>
#include <gtest/gtest.h>

namespace assay::promapi {
namespace {

using namespace std::chrono_literals;
using net::testing::Connection;
using net::testing::HttpServer;
using testing::Receiver;
using testing::TempFolder;

constexpr Timestamp kStart = from_unix_ns(1'700'000'000'000'000'000);

/// A queue and a writer on a clock that is moved by hand.
class RemoteWriterTest : public ::testing::Test {
 protected:
  void begin(RemoteWriteOptions options = {}) {
    auto opened = DiskQueue::open(folder_.path() / "queue");
    ASSERT_TRUE(opened) << opened.error().message;
    queue_ = std::move(*opened);
    if (options.url.empty()) options.url = receiver_.url();
    writer_.emplace(
        options, *queue_, clock_, [this](const std::string& s) { told_.push_back(s); }, 1);
  }
  void push(const std::string& text, uint32_t samples = 1) {
    ASSERT_TRUE(queue_->push(text, samples));
  }
  std::optional<Milliseconds> step() { return writer_->step(stopper_); }
  RemoteWriteStatus status() const { return writer_->status(); }

  TempFolder folder_;
  Receiver receiver_;
  ManualClock clock_{kStart};
  std::unique_ptr<DiskQueue> queue_;
  net::Stopper stopper_;
  std::vector<std::string> told_;
  std::optional<RemoteWriter> writer_;
};

TEST_F(RemoteWriterTest, SendsOneRequestAfterTheOtherInOrder) {
  begin();
  EXPECT_EQ(step(), std::nullopt) << "nothing is queued";
  push("first", 3);
  push("second", 4);
  EXPECT_EQ(step(), 0ms);
  EXPECT_EQ(step(), 0ms);
  EXPECT_EQ(step(), std::nullopt);
  EXPECT_EQ(receiver_.requests().front(),
            fmt::format("POST /api/v1/write HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAccept: */*\r\n"
                        "Content-Type: application/x-protobuf\r\nContent-Encoding: snappy\r\n"
                        "X-Prometheus-Remote-Write-Version: 0.1.0\r\nUser-Agent: assay\r\n"
                        "Content-Length: 5\r\n\r\nfirst",
                        receiver_.port()));
  EXPECT_EQ(receiver_.taken(), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(status().sent_samples, 7U);
  EXPECT_EQ(status().sent_requests, 2U);
  EXPECT_EQ(status().last_success, kStart);
  EXPECT_TRUE(told_.empty());
}

TEST_F(RemoteWriterTest, WaitsTwiceAsLongAfterEachFailureUpToALimit) {
  begin();
  push("x");
  receiver_.answer("503 Service Unavailable", "", "starting\nmore");
  Milliseconds expected = 1s;
  for (int i = 0; i < 12; ++i) {
    const auto wait = step();
    ASSERT_TRUE(wait);
    EXPECT_GE(*wait, expected * 3 / 4);
    EXPECT_LE(*wait, expected * 5 / 4);
    EXPECT_EQ(step(), wait) << "asked too early: nothing is sent";
    clock_.advance(*wait);
    expected = std::min<Milliseconds>(2 * expected, 60s);
  }
  EXPECT_EQ(receiver_.requests().size(), 12U);
  EXPECT_EQ(status().retries, 12U);
  EXPECT_EQ(status().last_error, "it answered 503: starting");
  receiver_.answer("200 OK");
  EXPECT_EQ(step(), 0ms);
  EXPECT_EQ(receiver_.taken(), (std::vector<std::string>{"x"}));
  EXPECT_EQ(status().last_error, "");
  ASSERT_EQ(told_.size(), 2U) << "once that it fails, once that it works again";
  EXPECT_NE(told_[0].find("fails"), std::string::npos);
  EXPECT_NE(told_[1].find("works again after"), std::string::npos);
  push("y");
  receiver_.answer("500 Internal Server Error");
  EXPECT_LE(step(), 1250ms) << "the waits begin anew";
}

TEST_F(RemoteWriterTest, WaitsAsLongAsTheReceiverAsks) {
  begin();
  push("x");
  receiver_.answer("429 Too Many Requests", "Retry-After: 120\r\n");
  EXPECT_EQ(step(), 120s);
  clock_.advance(120s);
  receiver_.answer("503 Service Unavailable", "Retry-After: Tue, 14 Nov 2023 22:25:20 GMT\r\n");
  EXPECT_EQ(step(), 600s) << "22:13:20 is the clock's beginning";
  clock_.advance(600s);
  receiver_.answer("204 No Content");
  EXPECT_EQ(step(), 0ms);
  EXPECT_EQ(status().retries, 2U);
  EXPECT_EQ(status().dropped_requests, 0U);
}

TEST_F(RemoteWriterTest, DropsWhatIsRefusedForGoodAndTellsOnce) {
  begin();
  for (const char* text : {"a", "b", "c"}) push(text, 5);
  receiver_.answer("400 Bad Request", "", "out of order sample\n");
  EXPECT_EQ(step(), 0ms);
  EXPECT_EQ(step(), 0ms);
  receiver_.answer("204 No Content");
  EXPECT_EQ(step(), 0ms);
  EXPECT_EQ(receiver_.taken(), (std::vector<std::string>{"c"}));
  EXPECT_EQ(status().dropped_samples, 10U);
  EXPECT_EQ(status().dropped_requests, 2U);
  EXPECT_EQ(status().retries, 0U);
  EXPECT_EQ(told_, (std::vector<std::string>{
                       fmt::format("remote write to {} was refused and 5 samples are dropped: it "
                                   "answered 400: out of order sample",
                                   receiver_.url())}));
}

TEST_F(RemoteWriterTest, AWrongTokenDoesNotEmptyTheQueueAtOnce) {
  begin();
  for (int i = 0; i < 100; ++i) push("x");
  receiver_.answer("401 Unauthorized");
  for (Timestamp end = kStart + 10min; clock_.now() < end;) clock_.advance(*step());
  EXPECT_LT(status().dropped_requests, 20U);
  EXPECT_GT(status().dropped_requests, 10U);
}

TEST_F(RemoteWriterTest, NobodyThereIsTriedAgain) {
  std::string url;
  { url = Receiver().url(); }
  begin({.url = url});
  push("x");
  EXPECT_GT(step(), 700ms);
  EXPECT_EQ(status().retries, 1U);
  EXPECT_NE(status().last_error.find("127.0.0.1"), std::string::npos) << status().last_error;
  EXPECT_EQ(queue_->counts().queued_records, 1U);
}

TEST_F(RemoteWriterTest, ARedirectAsOfAPortalDropsNothing) {
  begin();
  push("x");
  receiver_.answer("302 Found", "Location: /login\r\n");
  EXPECT_GT(step(), 700ms);
  EXPECT_EQ(status().retries, 1U);
  EXPECT_EQ(status().dropped_requests, 0U);
}

/// A record every ten seconds, an hour in which nobody answers with success, and what comes after.
TEST_F(RemoteWriterTest, AnHourOfOutageLosesNothingAndKeepsTheOrder) {
  begin();
  std::vector<std::string> pushed;
  Timestamp due = kStart;
  receiver_.answer("503 Service Unavailable");
  const auto run_until = [&](Timestamp end) {
    while (clock_.now() < end) {
      if (clock_.now() >= due) {
        pushed.push_back(fmt::format("record {}", pushed.size()));
        push(pushed.back(), 10);
        due += 10s;
      }
      const auto wait = step();
      const Nanoseconds until_due = due - clock_.now();
      clock_.advance(wait ? std::min<Nanoseconds>(*wait, until_due) : until_due);
    }
  };
  run_until(kStart + 1h);
  EXPECT_EQ(queue_->counts().queued_records, 360U);
  EXPECT_LT(receiver_.requests().size(), 90U) << "the receiver is left in peace";
  receiver_.answer("204 No Content");
  run_until(kStart + 1h + 2min);
  EXPECT_EQ(pushed.size(), 372U);
  EXPECT_EQ(receiver_.taken(), pushed);
  EXPECT_EQ(status().sent_samples, 3720U);
  EXPECT_EQ(queue_->counts().lost_samples, 0U);
  EXPECT_EQ(told_.size(), 2U);
}

TEST_F(RemoteWriterTest, ShowsWhoItIsAndReadsANewTokenAtOnce) {
  const auto file = folder_.path() / "token";
  begin({.bearer_token_file = file});
  push("x");
  EXPECT_GT(step(), 700ms) << "no such file yet";
  EXPECT_NE(status().last_error.find(file.native()), std::string::npos) << status().last_error;
  EXPECT_TRUE(receiver_.requests().empty());
  for (const char* token : {"first", "second"}) {
    std::ofstream(file) << token << '\n';
    push("x");
    clock_.advance(10s);
    step();
    const auto seen = receiver_.requests().back();
    EXPECT_NE(seen.find(fmt::format("\r\nAuthorization: Bearer {}\r\n", token)), seen.npos) << seen;
  }
}

TEST(Authorization, OfAUserIsBase64) {
  const TempFolder folder;
  const auto file = folder.path() / "user";
  const auto encoded = [&](std::string_view user) {
    std::ofstream(file) << user << "\n";
    return authorization({}, file).value_or("refused");
  };
  EXPECT_EQ(encoded("Aladdin:open sesame"), "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(encoded("Aladdin:open sesam"), "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2Ft");
  EXPECT_EQ(encoded("a:\xC3\xBF\xC3\xBE?"), "Authorization: Basic YTrDv8O+Pw==");
  EXPECT_EQ(encoded("a:\xC3\xBF\xC3\xBE??"), "Authorization: Basic YTrDv8O+Pz8=");
  EXPECT_EQ(*authorization({}, {}), "");
}

TEST(Authorization, AFileThatWouldChangeTheRequestIsRefusedWithoutShowingIt) {
  const TempFolder folder;
  const auto file = folder.path() / "token";
  for (const char* content : {"secret\r\nHost: other", "", " \n"}) {
    std::ofstream(file) << content;
    const auto line = authorization(file, {});
    ASSERT_FALSE(line) << content;
    EXPECT_EQ(line.error().message.find("secret"), std::string::npos);
  }
  std::ofstream(file) << "nobody";
  EXPECT_FALSE(authorization({}, file));
}

TEST(RetryAfter, IsReadAsSecondsOrDateWithinAnHour) {
  EXPECT_EQ(retry_after("0", kStart), 0ms);
  EXPECT_EQ(retry_after(" 7 ", kStart), 7s);
  EXPECT_EQ(retry_after("99999999999999999", kStart), 1h);
  EXPECT_EQ(retry_after("Tue, 14 Nov 2023 22:13:21 GMT", kStart), 1s);
  EXPECT_EQ(retry_after("Mon, 13 Nov 2023 22:13:21 GMT", kStart), 0ms) << "long ago";
  EXPECT_EQ(retry_after("Fri, 14 Nov 2053 22:13:21 GMT", kStart), 1h);
  for (const char* header : {"", "soon", "-1", "1.5", "Tue, 14 Nov 2023 22:13:21 GMT+1"})
    EXPECT_EQ(retry_after(header, kStart), std::nullopt) << header;
}

/// A sender in its thread, and how long its end takes.
class SenderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = DiskQueue::open(folder_.path());
    ASSERT_TRUE(opened) << opened.error().message;
    queue_ = std::move(*opened);
  }
  std::unique_ptr<RemoteWriteSender> started(const std::string& url) {
    auto sender = RemoteWriteSender::start({.url = url, .first_wait = 1h, .longest_wait = 1h},
                                           *queue_, clock_, [](const std::string&) {});
    EXPECT_TRUE(sender) << sender.error().message;
    return sender ? std::move(*sender) : nullptr;
  }
  static Milliseconds time_of_end(std::unique_ptr<RemoteWriteSender> sender) {
    const auto start = std::chrono::steady_clock::now();
    sender.reset();
    return std::chrono::ceil<Milliseconds>(std::chrono::steady_clock::now() - start);
  }

  TempFolder folder_;
  SystemClock clock_;
  std::unique_ptr<DiskQueue> queue_;
};

TEST_F(SenderTest, SendsWhatIsPushed) {
  const Receiver receiver;
  const auto sender = started(receiver.url());
  for (const char* text : {"a", "b"}) {
    ASSERT_TRUE(queue_->push(text, 1));
    while (queue_->counts().queued_records > 0) std::this_thread::yield();
  }
  EXPECT_EQ(receiver.taken(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(sender->status().sent_samples, 2U);
}

TEST_F(SenderTest, EndsAtOnceWhenIdle) {
  const Receiver receiver;
  EXPECT_LT(time_of_end(started(receiver.url())), 20s);
}

TEST_F(SenderTest, EndsAtOnceWhileItWaits) {
  Receiver receiver;
  receiver.answer("503 Service Unavailable");
  auto sender = started(receiver.url());
  ASSERT_TRUE(queue_->push("x", 1));
  while (sender->status().retries == 0) std::this_thread::yield();
  EXPECT_LT(time_of_end(std::move(sender)), 20s);
  EXPECT_EQ(queue_->counts().queued_records, 1U);
}

TEST_F(SenderTest, EndsAtOnceWithinARequestThatHangs) {
  std::promise<void> asked;
  const auto server = HttpServer::on_loopback([&](Connection& connection) {
    connection.read_request();
    asked.set_value();
    connection.wait_closed();
  });
  auto sender = started(server->base());
  ASSERT_TRUE(queue_->push("x", 1));
  asked.get_future().wait();
  EXPECT_LT(time_of_end(std::move(sender)), 20s);
  EXPECT_EQ(queue_->counts().queued_records, 1U) << "nobody knows whether it came through";
}

TEST_F(SenderTest, RefusesWhatCannotWork) {
  const auto refused_for = [&](const RemoteWriteOptions& options) {
    const auto sender = RemoteWriteSender::start(options, *queue_, clock_, {});
    return sender ? std::string() : sender.error().message;
  };
  EXPECT_NE(refused_for({.url = "prometheus:9090"}).find("http://"), std::string::npos);
  EXPECT_NE(refused_for({.url = "http://x", .bearer_token_file = "a", .basic_auth_file = "b"})
                .find("not both"),
            std::string::npos);
  EXPECT_NE(refused_for({.url = "http://x", .first_wait = 0ms}).find("above 0"), std::string::npos);
}

}  // namespace
}  // namespace assay::promapi
