// SPDX-License-Identifier: Apache-2.0
// What an API server streams to a watch of pods, nodes or any objects, in pieces of any size, and a
// page of a list.
#include "list_json.h"
#include "watch_lines.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace assay::kubeapi;

std::vector<std::string> lines_of(std::string_view bytes, size_t piece) {
  std::vector<std::string> found;
  WatchLines lines;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    const auto fed = lines.feed(bytes.substr(0, piece), [&](std::string_view line) {
      found.emplace_back(line);
      return true;
    });
    if (!fed || !*fed) break;
  }
  return found;
}

template <class T>
void check_event(std::string_view line) {
  using Kind = typename WatchEvent<T>::Kind;
  const auto event = read_event<T>(line);
  if (!event) return;
  const bool has_object = event->kind == Kind::set || event->kind == Kind::gone;
  if (has_object && (event->object.uid.empty() || event->version.empty())) __builtin_trap();
}

template <class T>
void check(std::string_view bytes, const std::vector<std::string>& lines) {
  for (const auto& line : lines) check_event<T>(line);
  if (const auto page = read_page<T>(bytes); page && page->version.empty()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto lines = lines_of(bytes, size + 1);
  if (lines != lines_of(bytes, 1) || lines != lines_of(bytes, 7)) __builtin_trap();
  check<Pod>(bytes, lines);
  check<Node>(bytes, lines);
  check<ObjectMeta>(bytes, lines);
  return 0;
}
