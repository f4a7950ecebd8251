// SPDX-License-Identifier: Apache-2.0
#include "blocks.h"

#include "simulated_run.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace assay::store {
namespace {

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

void expect_round_trip(const std::vector<Column>& columns, Effort effort, const std::string& what) {
  const auto back = decode_block(encode_block(views_of(columns), effort));
  ASSERT_TRUE(back) << what << ": " << back.error().message;
  ASSERT_EQ(back->size(), columns.size()) << what;
  for (size_t i = 0; i < columns.size(); ++i) {
    EXPECT_EQ((*back)[i].series, columns[i].series) << what;
    EXPECT_EQ((*back)[i].times, columns[i].times) << what;
    EXPECT_TRUE(same_bits((*back)[i].values, columns[i].values)) << what << ", column " << i;
  }
}

Column column_of(std::vector<double> values, uint32_t series = 0) {
  Column column;
  column.series = series;
  for (size_t i = 0; i < values.size(); ++i) {
    column.times.push_back(
        from_unix_ns(1'769'860'800'000'000'000 + static_cast<int64_t>(i) * 100'000'000));
  }
  column.values = std::move(values);
  return column;
}

TEST(Blocks, keep_every_kind_of_double_to_the_last_bit) {
  using L = std::numeric_limits<double>;
  const double odd_nan =
      std::bit_cast<double>(0x7ff00000deadbeefULL);  // signalling, with a payload
  const double minus_nan = std::bit_cast<double>(0xfff8000000000001ULL);
  const std::vector<double> values = {0.0,
                                      -0.0,
                                      L::infinity(),
                                      -L::infinity(),
                                      odd_nan,
                                      minus_nan,
                                      L::denorm_min(),
                                      -L::denorm_min(),
                                      L::max(),
                                      L::lowest(),
                                      0.1,
                                      1e300,
                                      9007199254740993.0,
                                      -9007199254740992.0};
  for (const auto effort : {Effort::fast, Effort::best}) {
    expect_round_trip({column_of(values)}, effort, "all at once");
    for (const double value : values) {
      expect_round_trip({column_of({value})}, effort, "one");
      expect_round_trip({column_of({value, value, value})}, effort, "constant");
      expect_round_trip({column_of({1.5, value, 2.5})}, effort, "between others");
    }
    expect_round_trip({column_of({0.0, -0.0, 0.0})}, effort, "signs of zero");
  }
}

/// One random column in one of the shapes that real series have, and some that they do not.
std::vector<double> random_values(std::mt19937_64& random, size_t count) {
  std::vector<double> values(count);
  const auto shape = random() % 9;
  const double scale = std::pow(10.0, static_cast<double>(random() % 12));
  auto level = static_cast<int64_t>(random() % 1'000'000'000'000);
  for (auto& value : values) {
    const auto noise = static_cast<int64_t>(random() % 10'000) - 5'000;
    level += noise;
    switch (shape) {
      case 0:
        value = std::bit_cast<double>(random());
        break;
      case 1:
        value = static_cast<double>(level);
        break;
      case 2:
        value = static_cast<double>(level) / scale;
        break;
      case 3:
        value = static_cast<double>(level) * (1 / scale);
        break;
      case 4:
        value = static_cast<double>(level * 4096);
        break;
      case 5:
        value = static_cast<double>(noise) / 100.0 + static_cast<double>(level) / 1000.0;
        break;
      case 6:
        value = std::ldexp(static_cast<double>(noise), -1070);
        break;
      case 7:
        value = random() % 50 == 0 ? std::nan("") : std::floor(static_cast<double>(level) / 1000);
        break;
      default:
        value = -static_cast<double>(random());
        break;
    }
  }
  return values;
}

std::vector<Timestamp> random_times(std::mt19937_64& random, size_t count) {
  std::vector<Timestamp> times(count);
  const auto shape = random() % 4;
  auto now = static_cast<int64_t>(random());
  for (auto& time : times) {
    const auto step = shape == 0 ? random() : shape == 1 ? 100'000'000 : random() % 200'000'000;
    now =
        static_cast<int64_t>(static_cast<uint64_t>(now) + step);  // wraps: any time must come back
    time = from_unix_ns(now);
  }
  return times;
}

TEST(Blocks, random_columns_come_back_as_they_were) {
  std::mt19937_64 random(20260131);
  for (int round = 0; round < 300; ++round) {
    std::vector<Column> columns;
    const size_t count = 1 + random() % 8;
    for (size_t i = 0; i < count; ++i) {
      const size_t length = 1 + random() % (round % 10 == 0 ? 3000 : 40);
      Column column{static_cast<uint32_t>(random() % 1000), random_times(random, length),
                    random_values(random, length)};
      if (i > 0 && random() % 2 == 0) {
        column.times = columns.back().times;
        column.values.resize(column.times.size());
      }
      columns.push_back(std::move(column));
    }
    const auto effort = round % 2 == 0 ? Effort::fast : Effort::best;
    expect_round_trip(columns, effort, "round " + std::to_string(round));
  }
}

TEST(Blocks, leave_out_columns_without_samples) {
  const auto back = decode_block(
      encode_block(views_of(std::vector{Column{7, {}, {}}, column_of({1, 2})}), Effort::fast));
  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), 1U);
  EXPECT_EQ(decode_block(encode_block({}, Effort::best))->size(), 0U);
}

TEST(Blocks, equal_times_are_stored_once) {
  std::vector<Column> one = {column_of(std::vector<double>(1000, 5.0))};
  std::mt19937_64 random(1);
  one[0].times = random_times(random, 1000);
  std::vector<Column> many(50, one[0]);
  const auto size = [](const std::vector<Column>& c) {
    return encode_block(views_of(c), Effort::best).size();
  };
  EXPECT_LT(size(many), size(one) + size_t{50} * 12);
}

TEST(Blocks, refuse_every_truncation_and_survive_every_flipped_byte) {
  const std::string good = encode_block(
      views_of(std::vector{column_of({1, 2.5, 3}), column_of({0.01, 0.02, 0.04, 0.05}, 1)}),
      Effort::fast);
  ASSERT_TRUE(decode_block(good));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(decode_block(std::string_view(good).substr(0, size))) << size;
  }
  for (size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << bit));
      (void)decode_block(bad);
    }
  }
}

TEST(Blocks, a_newer_format_says_so) {
  std::string block = encode_block(views_of(std::vector{column_of({1, 2})}), Effort::fast);
  block[3] = 9;
  const auto read = decode_block(block);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("format 9"), std::string::npos) << read.error().message;
}

TEST(Blocks, a_few_bytes_cannot_ask_for_much_memory) {
  // One column of times with 2^40 equal steps.
  const std::string bomb("ASB\x01\x00\x01\x80\x80\x80\x80\x80\x80\x01\x00\x01\x00\x00\x05", 18);
  EXPECT_FALSE(decode_block(bomb));
}

TEST(Blocks, splitting_keeps_order_and_length) {
  const std::vector<Column> columns = {column_of(std::vector<double>(25, 1.0)),
                                       column_of({2, 2, 2}, 1)};
  const auto groups = split_columns(views_of(columns), 10);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0][0].times.size(), 10U);
  EXPECT_EQ(groups[2][0].times.size(), 5U);
  EXPECT_EQ(groups[2][0].times[0], columns[0].times[20]);
  EXPECT_EQ(groups[2][1].series, 1U);
}

TEST(Blocks, a_run_of_a_minute_takes_less_than_one_and_a_half_bytes_per_sample) {
  const auto columns = simulated_columns(600);
  size_t samples = 0;
  for (const auto& column : columns) samples += column.times.size();
  const std::string block = encode_block(views_of(columns), Effort::best);
  const double per_sample = static_cast<double>(block.size()) / static_cast<double>(samples);
  RecordProperty("bytes_per_sample", std::to_string(per_sample));
  std::printf("%zu series, %zu samples, %.3f bytes per sample\n", columns.size(), samples,
              per_sample);
  EXPECT_LE(per_sample, 1.5);
  expect_round_trip(columns, Effort::best, "a simulated run");
}

}  // namespace
}  // namespace assay::store
