// SPDX-License-Identifier: Apache-2.0
#include "testing/api_server.h"

#include <nlohmann/json.hpp>

#include <assay/kubeapi/leader_election.h>
#include <gtest/gtest.h>

namespace assay::kubeapi {
namespace {

using net::testing::Connection;
using net::testing::HttpServer;
using testing::answer;
using Json = nlohmann::json;

/// A server with one lease, which keeps to versions as a real one does.
class LeaseServer {
 public:
  LeaseServer()
      : http_(HttpServer::on_loopback([this](Connection& connection) { serve(connection); })) {}

  Access access() const { return {.endpoint = {.base = http_->base()}}; }
  void fail_with(std::string text) {
    const Lock lock(mutex_);
    failure_ = std::move(text);
  }
  void drop_lease() {
    const Lock lock(mutex_);
    lease_ = nullptr;
  }
  Json lease() const {
    const Lock lock(mutex_);
    return lease_;
  }
  int requests() const {
    const Lock lock(mutex_);
    return requests_;
  }

 private:
  void serve(Connection& connection) {
    for (std::string request = connection.read_request(); !request.empty();
         request = connection.read_request()) {
      const Lock lock(mutex_);
      ++requests_;
      if (failure_ == "close") return;
      connection.write(failure_.empty() ? answer_to(request) : failure_);
    }
  }
  std::string answer_to(const std::string& request) ASSAY_REQUIRES(mutex_) {
    Json body = Json::parse(request.substr(request.find("\r\n\r\n") + 4), nullptr, false);
    const bool there = !lease_.is_null();
    if (request.starts_with("GET")) return there ? answer(200, lease_.dump()) : answer(404, "{}");
    if (request.starts_with("POST") == there) return answer(there ? 409 : 404, "{}");
    if (there && body["metadata"]["resourceVersion"] != lease_["metadata"]["resourceVersion"])
      return answer(409, "{}");
    body["metadata"]["resourceVersion"] = std::to_string(++version_);
    lease_ = body;
    return answer(200, lease_.dump());
  }

  mutable Mutex mutex_;
  Json lease_ ASSAY_GUARDED_BY(mutex_);
  int version_ ASSAY_GUARDED_BY(mutex_) = 0;
  int requests_ ASSAY_GUARDED_BY(mutex_) = 0;
  std::string failure_ ASSAY_GUARDED_BY(mutex_);
  std::unique_ptr<HttpServer> http_;
};

class LeaderElectionTest : public ::testing::Test {
 protected:
  std::unique_ptr<LeaderElection> contender(const std::string& identity) {
    return std::make_unique<LeaderElection>(
        client_, ElectionSettings{.name_space = "lab", .identity = identity}, clock_);
  }
  void pass(int seconds) { clock_.advance(std::chrono::seconds(seconds)); }
  bool step(LeaderElection& one) { return one.step(stopper_).leads; }

  LeaseServer server_;
  Client client_{server_.access()};
  net::Stopper stopper_;
  ManualClock clock_{from_unix_ns(1'767'323'045'000'000'000)};
};

TEST_F(LeaderElectionTest, the_first_leads_and_the_second_waits) {
  const auto one = contender("one");
  const auto two = contender("two");
  EXPECT_FALSE(one->leads());
  const Standing first = one->step(stopper_);
  EXPECT_TRUE(first.leads) << one->trouble();
  EXPECT_EQ(first.leader, "one");
  EXPECT_EQ(first.next, Milliseconds(2000));
  for (int i = 0; i < 60; ++i) {
    pass(2);
    EXPECT_TRUE(step(*one));
    const Standing second = two->step(stopper_);
    EXPECT_FALSE(second.leads);
    EXPECT_EQ(second.leader, "one");
  }
  EXPECT_EQ(server_.lease()["spec"]["leaseTransitions"], 0);
}

TEST_F(LeaderElectionTest, a_leader_costs_one_request_a_step) {
  const auto one = contender("one");
  step(*one);
  const int before = server_.requests();
  for (int i = 0; i < 10; ++i) step(*one);
  EXPECT_EQ(server_.requests() - before, 10);
}

TEST_F(LeaderElectionTest, a_dead_leaders_place_is_taken_after_its_time) {
  const auto one = contender("one");
  const auto two = contender("two");
  step(*one);
  step(*two);
  for (int i = 0; i < 7; ++i) {
    pass(2);
    EXPECT_FALSE(step(*two)) << i;
  }
  EXPECT_FALSE(one->leads()) << "it has given up before";
  pass(2);
  EXPECT_TRUE(step(*two));
  EXPECT_EQ(server_.lease()["spec"]["leaseTransitions"], 1);
  EXPECT_FALSE(step(*one)) << "it comes back and sees that it was replaced";
  EXPECT_TRUE(two->leads());
}

TEST_F(LeaderElectionTest, a_dead_leader_whose_place_cannot_be_taken_is_no_leader) {
  const auto one = contender("one");
  const auto two = contender("two");
  step(*one);
  step(*two);
  server_.fail_with(answer(500, "{}"));
  pass(2);
  EXPECT_EQ(two->step(stopper_).leader, "one") << "nobody says otherwise";
  pass(14);
  EXPECT_EQ(two->step(stopper_).leader, "");
  EXPECT_EQ(one->step(stopper_).leader, "");
}

TEST_F(LeaderElectionTest, two_never_lead_at_once_whenever_they_stand_still) {
  const auto one = contender("one");
  const auto two = contender("two");
  unsigned random = 1;
  int led = 0;
  for (int second = 0; second < 5000; ++second) {
    pass(1);
    random = random * 1664525U + 1013904223U;
    // Each of them now and then does nothing for up to half a minute.
    const bool one_sleeps = (second / 31 % 3) == 0 && (random >> 16U) % 20 != 0;
    const bool two_sleeps = (second / 17 % 4) == 0 && (random >> 17U) % 20 != 0;
    if (!one_sleeps && second % 2 == 0) step(*one);
    if (!two_sleeps && second % 2 == 1) step(*two);
    EXPECT_FALSE(one->leads() && two->leads()) << second;
    led += one->leads() || two->leads() ? 1 : 0;
  }
  EXPECT_GT(led, 2500);
}

TEST_F(LeaderElectionTest, of_two_that_want_it_at_once_one_gets_it) {
  const auto one = contender("one");
  const auto two = contender("two");
  const auto dead = contender("dead");
  step(*dead);
  step(*one);
  step(*two);
  pass(16);
  EXPECT_TRUE(step(*one));
  // It saw the dead leader's lease, too, and now finds another version.
  EXPECT_FALSE(step(*two));
  EXPECT_EQ(two->trouble(), "");
}

TEST_F(LeaderElectionTest, a_leader_that_cannot_renew_gives_up_in_time) {
  const auto one = contender("one");
  step(*one);
  server_.fail_with(answer(500, "{}"));
  for (int i = 0; i < 4; ++i) {
    pass(2);
    EXPECT_TRUE(step(*one)) << i;
    EXPECT_NE(one->trouble(), "");
  }
  pass(2);
  EXPECT_FALSE(one->leads());
  EXPECT_FALSE(step(*one));
  server_.fail_with("");
  EXPECT_TRUE(step(*one)) << "nobody has taken it";
  EXPECT_EQ(one->trouble(), "");
}

TEST_F(LeaderElectionTest, an_answer_that_was_lost_is_found_again) {
  const auto one = contender("one");
  step(*one);
  // Somebody else's hand: the lease is ours and has another version.
  const auto same = contender("one");
  step(*same);
  pass(2);
  EXPECT_TRUE(step(*one)) << one->trouble();
}

TEST_F(LeaderElectionTest, a_step_of_the_clock_makes_nobody_leader_and_no_leader_sure) {
  const auto one = contender("one");
  const auto two = contender("two");
  step(*one);
  step(*two);
  clock_.step(std::chrono::hours(5));
  EXPECT_FALSE(one->leads()) << "the machine may have slept";
  EXPECT_FALSE(step(*two)) << "times on walls are not compared";
  EXPECT_TRUE(step(*one));
  clock_.step(-std::chrono::hours(9));
  EXPECT_FALSE(one->leads());
  EXPECT_FALSE(step(*two));
  EXPECT_TRUE(step(*one));
}

TEST_F(LeaderElectionTest, a_lease_that_is_given_back_is_free_at_once) {
  const auto one = contender("one");
  const auto two = contender("two");
  step(*one);
  step(*two);
  ASSERT_TRUE(one->release(stopper_));
  EXPECT_FALSE(one->leads());
  EXPECT_EQ(server_.lease()["spec"]["holderIdentity"], "");
  EXPECT_TRUE(step(*two));
  EXPECT_TRUE(one->release(stopper_)) << "there is nothing to give";
  EXPECT_TRUE(two->leads());
}

TEST_F(LeaderElectionTest, a_lease_that_somebody_deleted_is_made_anew) {
  const auto one = contender("one");
  step(*one);
  server_.drop_lease();
  EXPECT_TRUE(step(*one)) << one->trouble();
  EXPECT_FALSE(server_.lease().is_null());
}

TEST_F(LeaderElectionTest, trouble_is_told_in_a_sentence) {
  const auto one = contender("one");
  server_.fail_with(answer(403, R"({"message": "leases is forbidden"})"));
  EXPECT_FALSE(step(*one));
  EXPECT_NE(one->trouble().find("let its account get, create and update leases.coordination"),
            std::string::npos)
      << one->trouble();
  server_.fail_with(answer(200, "<html>"));
  EXPECT_FALSE(step(*one));
  EXPECT_EQ(one->trouble(), "what the API server answers is no lease");
  server_.fail_with("close");
  EXPECT_FALSE(step(*one));
  EXPECT_NE(one->trouble(), "");
  const auto nobody = contender("");
  EXPECT_FALSE(step(*nobody));
  EXPECT_NE(nobody->trouble().find("identity"), std::string::npos);
}

}  // namespace
}  // namespace assay::kubeapi
