// SPDX-License-Identifier: Apache-2.0
// What callers of the service send, and what a Prometheus answers. The first byte chooses which.
// What is taken is within its bounds, what is not has a message.
#include "multipart.h"
#include "old_call.h"
#include "placements_call.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include <assay/promapi/query.h>

namespace {

using namespace assay;

void require(bool holds) {
  if (!holds) __builtin_trap();
}

template <class Value, class Check>
void look_at(const Result<Value>& found, Check check) {
  if (found)
    check(*found);
  else
    require(!found.error().message.empty());
}

void check_counts(const model::Counts& counts) {
  for (const double value : {counts.filter_details, counts.total_parameters,
                             counts.model_input_size, counts.model_output_size})
    require(std::isfinite(value) && value >= 0);
}

void parse_form(const std::string& text) {
  // The first line is the type.
  const size_t line = text.find('\n');
  const std::string_view body =
      line == text.npos ? std::string_view() : std::string_view(text).substr(line + 1);
  look_at(serve::parse_multipart(text.substr(0, line), body), [&](const auto& parts) {
    for (const auto& part : parts) {
      require(part.data.data() >= body.data() &&
              part.data.data() + part.data.size() <= body.data() + body.size());
      const std::string safe = serve::safe_filename(part.filename);
      require(!safe.empty() && safe.find('/') == safe.npos && safe[0] != '.');
    }
  });
}

void parse(unsigned which, const std::string& text) {
  if (which == 0) parse_form(text);
  if (which == 1)
    look_at(serve::parse_old_call(text), [](const auto& call) { check_counts(call.counts); });
  if (which == 2)
    look_at(serve::parse_placements_call(text), [](const auto& call) {
      require(!call.models.empty() && call.models.size() <= 64);
      for (const auto& model : call.models) check_counts(model.counts);
      for (const auto& [node, load] : call.loads) require(load >= 0 && load <= 1);
    });
  if (which == 3) look_at(promapi::parse_instant(text, "p"), [](const auto& /*answer*/) {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 0) parse(data[0] % 4U, std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
  return 0;
}
