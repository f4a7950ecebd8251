// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include <assay/store/store.h>
#include <gtest/gtest.h>

namespace assay::store {

/// A folder of its own for each test, gone at its end.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "assay-store-XXXXXX").native();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::unique_ptr<Store> must_open(const std::filesystem::path& file) {
  auto store = open_sqlite(file);
  if (!store) {
    ADD_FAILURE() << store.error().message;
    std::abort();
  }
  return std::move(*store);
}

inline RunRecord example_run(int ordinal, RunStatus status) {
  RunRecord run;
  run.ordinal = ordinal;
  run.target.command = {"python3", "app.py"};
  run.target.limits.cpus = 1.5;
  run.status = status;
  run.started = from_unix_ns(1'000'000'000);
  run.ended = from_unix_ns(3'000'000'000);
  return run;
}

/// Without runs.
inline SessionRecord example_session(const std::string& id, int64_t created_ns = 1'000) {
  SessionRecord session;
  session.id = id;
  session.app = {"waggle", "objcounter", "1.2", ""};
  session.device.hostname = "pole-7";
  session.created = from_unix_ns(created_ns);
  session.labels = {{"site", "river"}};
  session.folder = "/somewhere/" + id;
  return session;
}

/// `count` samples from `first` on, one each 100 ms; each value is its position.
inline Series example_series(const std::string& name, size_t first, size_t count) {
  Series series{{name, "bytes", Kind::gauge, Scope::app, "test", {{"part", "a"}}}, {}, {}};
  for (size_t i = first; i < first + count; ++i) {
    series.times.push_back(from_unix_ns(2'000'000'000 + static_cast<int64_t>(i) * 100'000'000));
    series.values.push_back(static_cast<double>(i));
  }
  return series;
}

/// The samples of a run's first series with that name; empty when there is none.
inline Series stored(Store& store, const std::string& session, int run, const std::string& name) {
  const auto reader = store.samples(session, run);
  if (!reader) {
    ADD_FAILURE() << reader.error().message;
    return {};
  }
  const auto infos = (*reader)->list();
  for (size_t i = 0; i < infos.size(); ++i) {
    if (infos[i].name == name) return *(*reader)->read(i);
  }
  return {};
}

inline void expect_samples(const Series& found, const Series& wanted) {
  EXPECT_EQ(found.info, wanted.info);
  EXPECT_EQ(found.times, wanted.times);
  EXPECT_EQ(found.values, wanted.values);
}

inline void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

}  // namespace assay::store
