// SPDX-License-Identifier: Apache-2.0
// What an agent, or somebody in its place, tells `assay top`, as a stream of events and as a
// document. Whatever it holds: each line fits the screen and nothing in it is a command to the
// terminal.
#include "../src/cli/top_view.h"

#include <clocale>
#include <cstdint>
#include <cstdlib>

namespace {

using namespace assay::cli;

void check(bool holds) {
  if (!holds) std::abort();
}

void check_frame(TopView& view, ScreenSize size) {
  const Lines lines = view.frame(size);
  for (const auto& line : lines) {
    const Line fitted = fitted_line(line, size.columns);
    check(line_columns(fitted) == size.columns);
    for (const char c : plain_text(fitted)) check(static_cast<unsigned char>(c) >= 0x20);
  }
}

void check_document(std::string_view text) {
  auto document = read_top_document(text);
  if (!document) return;
  static_cast<void>(once_text(*document, {}, 0));
  TopView view{TopChoice{}};
  view.take(*document);
  view.take(std::move(*document));
  check_frame(view, {80, 24});
  check_frame(view, {13, 7});
  view.press({KeyKind::end});
  view.press({KeyKind::enter});
  check_frame(view, {60, 100});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool utf8 = std::setlocale(LC_CTYPE, "C.UTF-8") != nullptr;
  check(utf8);
  const std::string bytes(data, data + size);
  check_document(bytes);
  EventReader reader;
  if (const auto event = reader.take(bytes)) check_document(*event);
  KeyReader keys;
  keys.take(bytes);
  keys.give_up();
  return 0;
}
