// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <assay/placement/workers.h>
#include <gtest/gtest.h>

namespace assay::placement {
namespace {

Workers some() {
  Workers workers;
  workers.add({{"assay-b-2", "b", "pi-1", Worker::State::running, from_unix_ns(2'000'000'000)},
               {"assay-a-1", "a", "pole-7", Worker::State::ended, from_unix_ns(1'000'000'000)}});
  workers.not_asked.push_back({"pi-9", "nobody answers"});
  return workers;
}

TEST(Workers, are_told_the_oldest_first) {
  EXPECT_EQ(workers_text(some()),
            "name       model  node    state     since\n"
            "assay-a-1  a      pole-7  ended     1970-01-01T00:00:01Z\n"
            "assay-b-2  b      pi-1    running   1970-01-01T00:00:02Z\n");
  EXPECT_EQ(workers_text({}), "no worker is there\n");
}

TEST(Workers, for_programs_have_also_who_could_not_be_asked) {
  const auto document = workers_document(some());
  ASSERT_EQ(document["deployments"].size(), 2U);
  EXPECT_EQ(document["deployments"][0], nlohmann::json({{"worker", "assay-a-1"},
                                                        {"model", "a"},
                                                        {"node", "pole-7"},
                                                        {"state", "ended"},
                                                        {"since", "1970-01-01T00:00:01.000Z"}}));
  EXPECT_EQ(document["not_asked"][0]["reason"], "nobody answers");
}

TEST(Workers, of_a_daemon_that_is_asked_twice_are_there_once) {
  Workers workers = some();
  workers.add(some().list);
  EXPECT_EQ(workers.list.size(), 2U);
}

}  // namespace
}  // namespace assay::placement
