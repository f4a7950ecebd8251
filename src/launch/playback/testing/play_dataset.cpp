// SPDX-License-Identifier: Apache-2.0
// play_dataset DATASET CACHE ID=KIND:FPS:loop|once:FILES...
// Plays a dataset for tests and measurements: prints its data-config.json in one line, plays until
// its standard input ends, and prints what it did in another.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/text.h>
#include <assay/launch/playback.h>

namespace {

using namespace assay;

Stream stream_of(std::string_view text) {
  Stream stream;
  stream.id = next_field(text, '=');
  stream.kind = stream_kind_from(next_field(text, ':')).value();
  stream.frames_per_second = parse_double(next_field(text, ':')).value();
  stream.loop = next_field(text, ':') == "loop";
  stream.files = text;
  return stream;
}

Json to_json(const launch::Playback& playback) {
  const launch::PlaybackStats stats = playback.stats();
  Json json = {{"cpu_seconds", stats.cpu_seconds},
               {"refused_clients", stats.refused_clients},
               {"finished", playback.finished()},
               {"notes", playback.notes()},
               {"streams", Json::object()}};
  for (const launch::StreamStats& stream : stats.streams) {
    json["streams"][stream.id] = {{"sent", stream.frames_sent},
                                  {"skipped", stream.frames_skipped},
                                  {"late", stream.late_frames},
                                  {"bad", stream.bad_frames}};
  }
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Stream> streams;
  for (int i = 3; i < argc; ++i) streams.push_back(stream_of(argv[i]));
  const auto playback = launch::Playback::start(streams, argv[1], argv[2]);
  if (!playback) {
    std::cerr << playback.error().message << '\n';
    return EXIT_FAILURE;
  }
  std::cout << (*playback)->data_config().dump() << std::endl;
  while (std::getchar() != EOF) {
    std::cout << to_json(**playback).dump() << std::endl;
  }
  std::cout << to_json(**playback).dump() << std::endl;
  return EXIT_SUCCESS;
}
