// SPDX-License-Identifier: Apache-2.0
// What apps and container engines choose (names, labels, help) and what a scraper asks for. The
// parts of the input are separated by a NUL. Whatever they are, the text has one line a sample, its
// names are valid, and a label's value is read back as it was given. Remote write gets the same
// series as if it had never been text.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <assay/base/text.h>
#include <assay/promapi/exposition.h>
#include <assay/promapi/request_writer.h>

namespace {

using namespace assay::promapi;

void check(bool holds) {
  if (!holds) std::abort();
}

bool is_name(std::string_view name) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9');
  };
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), good);
}

/// Reads a value up to its closing quote, and moves `text` behind that.
std::string unescaped(std::string_view& text) {
  std::string value;
  size_t at = 0;
  for (; at < text.size() && text[at] != '"'; ++at) {
    check(text[at] != '\n');
    const bool escaped = text[at] == '\\';
    if (escaped) ++at;
    check(at < text.size());
    value += escaped && text[at] == 'n' ? '\n' : text[at];
  }
  check(at < text.size());
  text.remove_prefix(at + 1);
  return value;
}

/// Reads name="value",… and compares the values with what cleaning gives.
void check_labels(std::string_view text, const CleanLabels& expected) {
  for (const auto& [name, value] : expected) {
    check(is_name(name) && !name.starts_with("__"));
    check(text.starts_with(name + "=\""));
    text.remove_prefix(name.size() + 2);
    check(unescaped(text) == value);
    check(valid_utf8(value) == value);
    if (!text.empty()) check(text.front() == ',');
    text.remove_prefix(std::min<size_t>(text.size(), 1));
  }
  check(text.empty());
}

void check_request(const std::string& name, const LabelText& text, std::span<const Label> labels) {
  WriteRequest expected;
  expected.start();
  expected.add(SeriesLabels(name, labels), assay::Timestamp(assay::Milliseconds(1)), 1);
  bool taken = false;
  RequestWriter writer(
      {}, [&](std::string_view request, uint32_t) { taken = request == expected.finish(); });
  writer.start(assay::Timestamp(assay::Milliseconds(1)));
  writer.family(name, FamilyKind::gauge, "");
  writer.sample(text, 1);
  writer.finish();
  check(taken);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string input(data, data + size);
  std::string_view rest = input;
  const std::string_view accept = assay::next_field(rest, '\0');
  const std::string_view encoding = assay::next_field(rest, '\0');
  const std::string name = sanitized_name(assay::next_field(rest, '\0'));
  const std::string help = valid_utf8(assay::next_field(rest, '\0'));
  const std::string_view first = assay::next_field(rest, '\0');
  const std::string_view second = assay::next_field(rest, '\0');
  const std::array<Label, 2> labels{{{first, second}, {second, rest}}};
  const LabelText text(labels);
  check_labels(text.text(), clean_labels(labels));
  check_request(name, text, labels);

  const auto agreed = negotiate(accept, encoding);
  Exposition out;
  out.start(agreed.format);
  out.family(name, FamilyKind::gauge, help, "seconds");
  out.sample(text, 1);
  const std::string_view written = out.finish();
  const bool has_unit = written.find("# UNIT ") == 0 || written.find("\n# UNIT ") != written.npos;
  const auto lines = std::count(written.begin(), written.end(), '\n');
  const bool openmetrics = agreed.format == TextFormat::openmetrics;
  check(lines == 2 + (help.empty() ? 0 : 1) + (has_unit ? 1 : 0) + (openmetrics ? 1 : 0));
  return 0;
}
