// SPDX-License-Identifier: Apache-2.0
// What apps send, cut anywhere: the first byte chooses how. Besides not crashing, the parser must
// find the same however the bytes are cut, and must take every message that a JSON library takes.
#include "../src/hooks/message_parser.h"
#include "../src/hooks/recorder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace {

using namespace assay::hooks;

constexpr size_t kMessageBytes = 512;

/// Everything that was found, as one text.
class Findings final : public ReadingSink {
 public:
  explicit Findings(Recorder& recorder) : recorder_(recorder) {}
  void take(const Reading& r) override {
    text += std::string(r.name) + '=' + std::to_string(r.value) + '@' + std::to_string(r.time) +
            ' ' + std::string(r.unit) + ' ' + std::string(r.kind) + '\n';
    constexpr auto kNow = assay::from_unix_ns(1'700'000'000'000'000'000);
    recorder_.record(r, {1, "reported by pid 1"}, {kNow, kNow}, unrecorded_);
  }
  std::string text;

 private:
  Recorder& recorder_;
  Losses unrecorded_;
};

std::string parse(std::string_view bytes, size_t piece, Losses& losses) {
  assay::MemorySeries series;
  Recorder recorder(series, 10);
  Findings findings(recorder);
  MessageParser parser(kMessageBytes);
  for (size_t i = 0; i < bytes.size(); i += piece) {
    const std::string copy(bytes.substr(i, piece));  // so that a read beyond its end is seen
    parser.feed(copy, findings, losses);
  }
  parser.finish(losses);
  for (size_t i = 0; i < kTroubles; ++i) {
    findings.text += ' ' + std::to_string(losses.count(static_cast<Trouble>(i)));
  }
  return findings.text;
}

int depth_of(const nlohmann::json& json) {
  int deepest = 0;
  for (const auto& item : json) {
    if (item.is_structured()) deepest = std::max(deepest, depth_of(item));
  }
  return deepest + 1;
}

bool has_blank_line(std::string_view text) {
  bool empty = false;
  for (const char c : text) {
    if (c == '\n' && empty) return true;
    if (c == '\n') empty = true;
    if (c != '\n' && c != ' ' && c != '\t' && c != '\r') empty = false;
  }
  return false;
}

/// One object, as strict JSON, within our bounds. (The library takes a NUL byte for the end.)
bool must_be_taken(std::string_view text) {
  if (text.front() != '{' || text.size() > kMessageBytes) return false;
  if (has_blank_line(text) || text.find('\0') != std::string_view::npos) return false;
  const auto json = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  return !json.is_discarded() && depth_of(json) <= MessageParser::kMaxDepth;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string text(data + 1, data + size);
  Losses whole;
  const std::string found = parse(text, text.size(), whole);
  Losses cut;
  if (parse(text, 1 + data[0] % 64U, cut) != found) std::abort();
  const uint64_t broken = whole.count(Trouble::not_json) + whole.count(Trouble::too_deep) +
                          whole.count(Trouble::too_long) + whole.count(Trouble::cut_off);
  if (broken != 0 && must_be_taken(text)) std::abort();
  return 0;
}
