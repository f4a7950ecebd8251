// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::cli {

/// The spans that the agent sums up, as it names them and as people do.
struct TopSpan {
  std::string_view key;
  std::string_view title;
};
inline constexpr std::array kTopSpans = {TopSpan{"10s", "10 s"}, TopSpan{"1m", "1 min"},
                                         TopSpan{"5m", "5 min"}};

struct TopSummary {
  std::optional<double> mean;
  std::optional<double> p95;
  std::optional<double> max;
};

struct TopValue {
  std::optional<double> now;
  std::string unit = {};
  std::array<TopSummary, kTopSpans.size()> spans = {};
};

struct TopGoal {
  std::string goal;
  std::optional<bool> met;  ///< nothing: not known yet
};

struct TopAdvice {
  std::string kind;  ///< "starved"
  std::string sentence;
};

/// One app as the agent tells of it. Every text but the id is safe to show.
struct TopApp {
  std::string id;  ///< tells it from others
  std::string name;
  std::string kind;
  bool running = true;
  bool lower_bound = false;       ///< its last moment may be missing
  std::optional<double> seconds;  ///< its age, or how long it was there
  /// By name, in the agent's order: "cores", "memory_bytes" ...
  std::vector<std::pair<std::string, TopValue>> values;
  std::map<std::string, TopValue> reported;  ///< by itself: "fps" ...
  std::optional<double> core_limit;
  std::optional<double> memory_limit;
  std::vector<TopGoal> goals;
  std::vector<TopAdvice> advice;
  std::vector<std::pair<std::string, std::string>> facts;  ///< "image": "waggle/app:1" ...

  /// What it is now; nothing where it is not measured, or has ended.
  std::optional<double> now(const std::string& value) const;
  std::optional<double> now(const std::string& one, const std::string& other) const;
};

/// The live table as the agent tells it, at /api/v1/apps and in its stream.
struct TopDocument {
  std::string node;
  std::optional<double> cores;
  std::optional<double> memory_bytes;
  std::vector<TopApp> apps;
};

/// Nothing when it is no such document. What is of another kind than expected is left out.
std::optional<TopDocument> read_top_document(std::string_view text);

/// Cuts a stream of server-sent events into the data of each, in bounded memory.
class EventReader {
 public:
  /// The newest event that ended in this piece.
  std::optional<std::string> take(std::string_view piece);

 private:
  void take_line(std::string_view line, std::optional<std::string>& newest);

  std::string line_;
  std::string data_;
};

}  // namespace assay::cli
