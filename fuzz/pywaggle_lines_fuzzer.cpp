// SPDX-License-Identifier: Apache-2.0
// What a plugin's log may hold, cut anywhere: the first byte chooses how. Besides not crashing, the
// same must be found however the bytes are cut, and every line is either found or counted.
#include "../src/hooks/pywaggle_line.h"
#include "../src/hooks/recorder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace assay::hooks;

constexpr size_t kLineBytes = 256;
constexpr auto kNow = assay::from_unix_ns(1'700'000'000'000'000'000);

struct Findings {
  std::string text;
  uint64_t lines = 0;
  uint64_t found = 0;
  Losses losses;
};

Findings parse(std::string_view bytes, size_t piece) {
  assay::MemorySeries series;
  Recorder recorder(series, 10);
  LineCutter cutter(kLineBytes);
  PlainZone zone;
  Findings findings;
  Losses unrecorded;
  const auto take = [&](std::string_view line) {
    ++findings.lines;
    const auto message = parse_pywaggle_line(line, findings.losses);
    if (!message) return;
    ++findings.found;
    Reading reading;
    reading.name = message->name;
    reading.value = message->value;
    if (message->timer) reading.unit = "ns";
    if (message->local) {
      reading.time = assay::seconds(zone.to_wall(*message->local, kNow).time_since_epoch());
    }
    findings.text += message->name + '=' + std::to_string(reading.value) + '@' +
                     std::to_string(reading.time) + (message->text ? " text\n" : "\n");
    recorder.record(reading, {0, "fuzzer"}, {kNow, kNow}, unrecorded);
  };
  for (size_t i = 0; i < bytes.size(); i += piece) {
    const std::string copy(bytes.substr(i, piece));  // so that a read beyond its end is seen
    cutter.feed(copy, findings.losses, take);
  }
  if (findings.lines !=
      findings.found + findings.losses.total() - findings.losses.count(Trouble::too_long)) {
    std::abort();
  }
  cutter.cut_off(findings.losses);
  return findings;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string text(data + 1, data + size);
  const Findings whole = parse(text, text.size());
  const Findings cut = parse(text, 1 + data[0] % 64U);
  if (whole.text != cut.text || whole.losses.total() != cut.losses.total()) std::abort();
  return 0;
}
