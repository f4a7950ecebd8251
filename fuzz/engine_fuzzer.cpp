// SPDX-License-Identifier: Apache-2.0
// What a container daemon answers: the stream of an app's output, the lines of a pull, and JSON
// about itself, images, containers and networks. The first byte chooses between the three.
#include "docker/engine_answers.h"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using namespace assay::launch;

struct Taken {
  std::string standard;
  std::string error;
  bool operator==(const Taken&) const = default;
};

Taken split(std::string_view bytes, size_t piece) {
  Taken taken;
  OutputSplitter splitter([&](Output output, std::string_view text) {
    (output == Output::error ? taken.error : taken.standard) += text;
  });
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
    splitter.feed(bytes.substr(0, piece));
  return taken;
}

void check_stream(std::string_view bytes) {
  const Taken whole = split(bytes, bytes.size() + 1);
  if (whole.standard.size() + whole.error.size() > bytes.size()) __builtin_trap();
  if (whole != split(bytes, 1) || whole != split(bytes, 7)) __builtin_trap();
}

void check_pull(std::string_view text) {
  PullProgress progress;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const auto read = progress.line(text.substr(0, end));
    if (!read && read.error().message.empty()) __builtin_trap();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  (void)progress.done();
  (void)progress.total();
}

void check_json(std::string_view text) {
  if (message_of(text, 500).empty()) __builtin_trap();
  const auto json = assay::Json::parse(text, nullptr, false);
  if (json.is_discarded()) return;
  if (const auto engine = read_engine(json); engine && engine->name.size() < 7) __builtin_trap();
  EngineInfo info;
  add_info(json, info);
  (void)read_address(json, "net");
  (void)read_image(json);
  (void)read_gateway(json);
  const ContainerState state = read_container(json);
  if (state.pid < 0 || state.command.empty()) __builtin_trap();
  for (const auto& container : read_list(json)) {
    if (container.id.empty()) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 's':
      check_stream(rest);
      break;
    case 'p':
      check_pull(rest);
      break;
    default:
      check_json(rest);
  }
  return 0;
}
