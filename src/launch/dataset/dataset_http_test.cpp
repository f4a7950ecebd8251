// SPDX-License-Identifier: Apache-2.0
#include "dataset/sha256.h"
#include "dataset/testing/script_server.h"
#include "dataset/testing/test_archive.h"
#include "process/testing.h"

#include <csignal>
#include <fmt/format.h>
#include <future>
#include <sys/mount.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <assay/launch/dataset.h>
#include <gtest/gtest.h>

namespace assay::launch {
namespace {

namespace fs = std::filesystem;
using testing::make_archive;
using testing::ScopedVariable;
using testing::ScriptServer;
using testing::TempFolder;

bool go_on(uint64_t, std::optional<uint64_t>) {
  return true;
}

class HttpDataset : public ::testing::Test {
 protected:
  HttpDataset() { served_.write("x.bin", content_); }

  std::string url(const std::string& path) const {
    return fmt::format("http://127.0.0.1:{}/{}", server_.facts()["port"].get<int>(), path);
  }
  DatasetCache cache() const { return {.folder = folder_.path() / "cache"}; }
  Result<Dataset> fetch(const std::string& path, const std::string& sum = "") const {
    return fetch_dataset({url(path), sum}, cache(), go_on);
  }
  /// What the server was asked, "PATH RANGE STATUS" each.
  std::vector<std::string> log() const {
    std::vector<std::string> lines;
    std::string text = read_file(served_.path() / "log").value_or("");
    for (std::string_view rest = text; !rest.empty();)
      lines.emplace_back(rest.substr(0, rest.find('\n'))),
          rest.remove_prefix(lines.back().size() + 1);
    return lines;
  }
  size_t names_in(const std::string& folder) const {
    std::error_code error;
    const auto begin = fs::directory_iterator(cache().folder / folder, error);
    return static_cast<size_t>(std::distance(begin, fs::directory_iterator()));
  }
  void expect_whole(const Result<Dataset>& dataset) const {
    ASSERT_TRUE(dataset) << dataset.error().message;
    EXPECT_EQ(dataset->path().filename(), "x.bin");
    EXPECT_TRUE(read_file(dataset->path()).value() == content_);
    EXPECT_EQ(dataset->digest(), sum_);
    EXPECT_EQ(dataset->bytes(), content_.size());
    EXPECT_EQ(names_in("work"), 0U);
  }

  std::string content_ = [] {
    std::string text;
    for (int i = 0; i < 40'000; ++i) text += fmt::format("{}\n", i);
    return text;
  }();
  std::string sum_ = sha256_of(content_);
  TempFolder served_;
  TempFolder folder_;
  ScriptServer server_{"data_server.py", {served_.path().native()}};
};

TEST_F(HttpDataset, WithAChecksumItIsFetchedOnce) {
  expect_whole(fetch("plain/x.bin", sum_));
  expect_whole(fetch("plain/x.bin", sum_));
  EXPECT_EQ(log().size(), 1U);
}

TEST_F(HttpDataset, WithoutAChecksumTheServerIsAskedWhetherItChanged) {
  fs::path first;
  {
    const auto dataset = fetch("plain/x.bin");
    expect_whole(dataset);
    first = dataset->path();
  }
  const auto same = fetch("plain/x.bin");
  expect_whole(same);
  EXPECT_EQ(same->path(), first);
  served_.write("x.bin", "new");
  const auto changed = fetch("plain/x.bin");
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(read_file(changed->path()).value(), "new");
  EXPECT_TRUE(fs::exists(first));
  EXPECT_EQ(log().size(), 3U);
}

TEST_F(HttpDataset, ArchiveIsUnpacked) {
  const std::string archive = make_archive("pax", "xz", {{"d/y", "hello"}});
  served_.write("a.tar.xz", archive);
  const auto dataset = fetch("plain/a.tar.xz?token=dummy", sha256_of(archive));
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(read_file(dataset->path() / "d/y").value(), "hello");
  EXPECT_EQ(dataset->bytes(), 5U);
}

TEST_F(HttpDataset, BadArchiveIsNotKeptNorFetchedForever) {
  served_.write("a.zip", "no archive");
  const auto dataset = fetch("plain/a.zip");
  ASSERT_FALSE(dataset);
  EXPECT_NE(dataset.error().message.find("cannot be unpacked"), std::string::npos);
  EXPECT_EQ(names_in("entries"), 0U);
  EXPECT_EQ(names_in("work"), 0U);
}

TEST_F(HttpDataset, EmptyFileIsADataset) {
  served_.write("empty", "");
  const auto dataset = fetch("plain/empty");
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(dataset->bytes(), 0U);
  EXPECT_TRUE(fs::is_regular_file(dataset->path()));
}

TEST_F(HttpDataset, GoesOnWhereTheServerBrokeOff) {
  expect_whole(fetch("cut/100000/x.bin", sum_));
  const std::vector<std::string> expected = {"/cut/100000/x.bin - 200",
                                             "/cut/100000/x.bin bytes=100000- 206",
                                             "/cut/100000/x.bin bytes=200000- 206"};
  EXPECT_EQ(log(), expected);
}

TEST_F(HttpDataset, GivesUpOnAServerThatBreaksOffAndHasNoRanges) {
  const auto dataset = fetch("cutnorange/1000/x.bin", sum_);
  ASSERT_FALSE(dataset);
  EXPECT_TRUE(dataset.error().temporary);
  EXPECT_EQ(names_in("entries"), 0U);
  EXPECT_EQ(log().size(), 6U);
}

TEST_F(HttpDataset, WorksWithoutRangesAndWithoutALength) {
  expect_whole(fetch("norange/x.bin", sum_));
  expect_whole(fetch("norange/x.bin"));
  expect_whole(fetch("nolength/x.bin"));
}

TEST_F(HttpDataset, StartsOverWhenTheContentChangesInTheMiddle) {
  served_.write("x.bin.new", "new content");
  const auto dataset = fetch("changed/1000/x.bin");
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_EQ(read_file(dataset->path()).value(), "new content");
}

TEST_F(HttpDataset, NeverJoinsTheRestOfAnotherVersion) {
  const std::string other(content_.size(), 'x');
  served_.write("x.bin.new", other);
  const auto dataset = fetch("blind/1000/x.bin");
  ASSERT_TRUE(dataset) << dataset.error().message;
  EXPECT_TRUE(read_file(dataset->path()).value() == other);
  EXPECT_EQ(log().back(), "/blind/1000/x.bin - 200");
}

TEST_F(HttpDataset, WaitsForAServerThatIsBusy) {
  expect_whole(fetch("late/2/x.bin", sum_));
}

TEST_F(HttpDataset, WrongChecksumLeavesNothing) {
  const auto dataset = fetch("plain/x.bin", sha256_of("other"));
  ASSERT_FALSE(dataset);
  EXPECT_EQ(dataset.error().kind, ErrorKind::input);
  EXPECT_NE(dataset.error().message.find(sum_), std::string::npos);
  EXPECT_EQ(names_in("entries"), 0U);
  EXPECT_EQ(names_in("work"), 0U);
}

TEST_F(HttpDataset, RefusalNamesTheAddressWithoutSecrets) {
  const auto dataset = fetch("plain/none?sig=dummy");
  ASSERT_FALSE(dataset);
  EXPECT_NE(dataset.error().message.find("/plain/none answered with status 404"),
            std::string::npos);
  EXPECT_EQ(dataset.error().message.find("dummy"), std::string::npos);
}

TEST_F(HttpDataset, FollowsRedirects) {
  expect_whole(fetch("redirect/x.bin", sum_));
}

TEST_F(HttpDataset, TellsHowFarItIs) {
  std::optional<uint64_t> total;
  uint64_t done = 0;
  const auto dataset = fetch_dataset({url("plain/x.bin"), sum_}, cache(), [&](uint64_t d, auto t) {
    done = d;
    total = t;
    return true;
  });
  expect_whole(dataset);
  EXPECT_EQ(done, content_.size());
  EXPECT_EQ(total, content_.size());
}

TEST_F(HttpDataset, StopsWhileNothingComesAndGoesOnLater) {
  const auto stopped = fetch_dataset({url("stall/1000/x.bin"), sum_}, cache(),
                                     [](uint64_t done, auto) { return done < 1000; });
  ASSERT_FALSE(stopped);
  EXPECT_NE(stopped.error().message.find("stopped"), std::string::npos);
  EXPECT_EQ(names_in("entries"), 0U);
  ASSERT_EQ(names_in("work"), 1U);
  expect_whole(fetch("stall/1000/x.bin", sum_));
  EXPECT_EQ(log().back(), "/stall/1000/x.bin bytes=1000- 206");
}

TEST_F(HttpDataset, GoesOnAfterAKill) {
  const pid_t child = ::fork();
  if (child == 0) {
    (void)fetch_dataset({url("stall/100000/x.bin"), sum_}, cache(), [](uint64_t done, auto) {
      if (done >= 1000) ::raise(SIGKILL);
      return true;
    });
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(names_in("entries"), 0U);
  expect_whole(fetch("stall/100000/x.bin", sum_));
  ASSERT_EQ(log().size(), 2U);
  EXPECT_TRUE(log()[1].starts_with("/stall/100000/x.bin bytes=") && log()[1].ends_with(" 206"))
      << log()[1];
}

TEST_F(HttpDataset, KillAfterTheLastByteNeedsNoByteMore) {
  const auto stopped = fetch_dataset({url("stall/999999/x.bin"), sum_}, cache(),
                                     [&](uint64_t done, auto) { return done < content_.size(); });
  ASSERT_FALSE(stopped);
  expect_whole(fetch("stall/999999/x.bin", sum_));
  EXPECT_EQ(log().back(), fmt::format("/stall/999999/x.bin bytes={}- 416", content_.size()));
}

TEST_F(HttpDataset, WhoWantsTheSameAtTheSameTimeWaits) {
  std::promise<void> second_waits;
  auto waiting = second_waits.get_future();
  std::promise<void> first_works;
  bool is_first_call = true;
  auto first = std::async(std::launch::async, [&] {
    return fetch_dataset({url("plain/x.bin"), sum_}, cache(), [&](uint64_t, auto) {
      if (std::exchange(is_first_call, false)) {
        first_works.set_value();
        waiting.wait();
      }
      return true;
    });
  });
  first_works.get_future().wait();
  bool told = false;
  const auto second = fetch_dataset({url("plain/x.bin"), sum_}, cache(), [&](uint64_t, auto) {
    if (!std::exchange(told, true)) second_waits.set_value();
    return true;
  });
  expect_whole(first.get());
  expect_whole(second);
  EXPECT_EQ(log().size(), 1U);
}

TEST_F(HttpDataset, LargerThanTheCacheIsRefused) {
  DatasetCache small = cache();
  small.max_bytes = 1000;
  const auto told = fetch_dataset({url("plain/x.bin"), sum_}, small, go_on);
  ASSERT_FALSE(told);
  EXPECT_NE(told.error().message.find("more than the cache may hold (1 kB)"), std::string::npos)
      << told.error().message;
  const auto untold = fetch_dataset({url("nolength/x.bin"), sum_}, small, go_on);
  ASSERT_FALSE(untold);
  EXPECT_NE(untold.error().message.find("larger than 1 kB"), std::string::npos)
      << untold.error().message;
}

TEST_F(HttpDataset, FullDiskIsSaidAndLeavesNoPart) {
  const fs::path disk = folder_.path() / "disk";
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "needs the right to mount";
  const DatasetCache full{.folder = disk / "cache"};
  for (const char* path : {"plain/x.bin", "nolength/x.bin"}) {
    const auto dataset = fetch_dataset({url(path), sum_}, full, go_on);
    ASSERT_FALSE(dataset);
    EXPECT_NE(dataset.error().message.find("ASSAY_CACHE"), std::string::npos)
        << dataset.error().message;
    EXPECT_TRUE(fs::is_empty(disk / "cache/entries"));
    for (const auto& work : fs::recursive_directory_iterator(disk / "cache/work"))
      EXPECT_TRUE(work.is_directory()) << work.path();
  }
  ::umount2(disk.c_str(), MNT_DETACH);
}

TEST_F(HttpDataset, ComesOverTlsWhenTheAuthorityIsTrusted) {
  const ScriptServer secure("data_server.py", {served_.path().native(), "--tls"});
  const std::string address =
      fmt::format("https://127.0.0.1:{}/plain/x.bin", secure.facts()["port"].get<int>());
  const auto untrusted = fetch_dataset({address, sum_}, cache(), go_on);
  ASSERT_FALSE(untrusted);
  EXPECT_NE(untrusted.error().message.find("cannot trust"), std::string::npos);
  const ScopedVariable authority("SSL_CERT_FILE", secure.facts()["ca"].get<std::string>());
  expect_whole(fetch_dataset({address, sum_}, cache(), go_on));
}

}  // namespace
}  // namespace assay::launch
