// SPDX-License-Identifier: Apache-2.0
#include "spec_checks.h"
#include "spec_values.h"

#include <array>
#include <map>

#include <assay/base/text.h>

namespace assay::session {
namespace {

constexpr size_t kMostStreams = 64;
constexpr double kMostFrames = 1000;
constexpr size_t kSha256Digits = 64;
constexpr std::array<std::string_view, 5> kStreamKeys = {"id", "files", "type", "fps", "loop"};
constexpr std::array<std::string_view, 3> kStreamTypes = {"video", "image", "audio"};
constexpr std::array<std::string_view, 2> kDatasetKeys = {"source", "sha256"};
constexpr std::string_view kStreamExample = "{id: top_live, files: cam1, type: video, fps: 10}";
constexpr std::string_view kDatasetExample = "data/winter or {source: https://…, sha256: …}";

Result<std::string> check_sha256(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  if (text.size() == kSha256Digits && text.find_first_not_of("0123456789abcdef") == text.npos)
    return text;
  return bad_input(fmt::format("{} is not a checksum; give the 64 hex digits that sha256sum prints",
                               in_quotes(text)));
}

Result<double> parse_fps(const std::string& text) {
  const auto fps = parse_double(text);
  if (fps && *fps > 0 && *fps <= kMostFrames) return *fps;
  return bad_input(fmt::format("{} is not a number of frames a second; choose above 0 to {}",
                               in_quotes(text), kMostFrames));
}

Result<StreamKind> parse_type(const std::string& text) {
  if (const auto kind = stream_kind_from(text)) return *kind;
  return bad_input(
      fmt::format("unknown type {}{}", in_quotes(text), suggestion(text, kStreamTypes)));
}

void read_stream_key(const Field& field, Stream& stream, Problems& problems) {
  if (field.key == "id") {
    stream.id = read_text(field, problems).value_or("");
  } else if (field.key == "files") {
    stream.files = read_text(field, problems).value_or("");
  } else if (field.key == "loop") {
    stream.loop = read_yes_no(field, problems).value_or(stream.loop);
  } else if (field.key == "type") {
    const auto text = read_scalar(field, "a type", "video", problems);
    if (text) stream.kind = keep(parse_type(*text), field, problems).value_or(stream.kind);
  } else if (field.key == "fps") {
    const auto text = read_scalar(field, "a number", "10", problems);
    if (text) {
      stream.frames_per_second =
          keep(parse_fps(*text), field, problems).value_or(stream.frames_per_second);
    }
  } else {
    unknown_key(field, kStreamKeys, problems);
  }
}

void read_dataset_key(const Field& field, DatasetSource& dataset, Problems& problems) {
  const bool is_source = field.key == "source" || field.key == "url";
  if (is_source && !dataset.source.empty()) {
    problems.add(field.line, "dataset: source and url are one; remove one of them");
  } else if (is_source) {
    dataset.source = read_text(field, problems).value_or("");
  } else if (field.key == "sha256") {
    const auto text = read_text(field, problems);
    if (text) dataset.sha256 = keep(check_sha256(*text), field, problems).value_or("");
  } else {
    unknown_key(field, kDatasetKeys, problems);
  }
}

}  // namespace

std::optional<DatasetSource> read_dataset(const Field& field, Problems& problems) {
  DatasetSource dataset;
  if (field.value.IsScalar()) {
    dataset.source = read_text(field, problems).value_or("");
  } else if (field.value.IsMap()) {
    const size_t before = problems.size();
    for (const auto& entry : fields_of(field.value, problems)) {
      read_dataset_key(entry, dataset, problems);
    }
    if (dataset.source.empty() && problems.size() == before) {
      problems.add(field.line,
                   fmt::format("dataset: has no source; write for example {}", kDatasetExample));
    }
  } else {
    wrong_type(field, "text or a map", kDatasetExample, problems);
  }
  return dataset.source.empty() ? std::nullopt : std::optional(dataset);
}

std::optional<std::vector<Stream>> read_playback(const Field& field, Problems& problems) {
  std::vector<Stream> streams;
  std::map<std::string, int> lines;
  for (const auto& item : maps_of(field, kMostStreams, kStreamExample, problems)) {
    Stream stream;
    const size_t before = problems.size();
    for (const auto& entry : fields_of(item.value, problems)) {
      read_stream_key(entry, stream, problems);
    }
    if (stream.id.empty() && problems.size() == before) {
      problems.add(item.line, fmt::format("playback: a stream needs an id; write for example {}",
                                          kStreamExample));
    }
    const auto [first, is_new] = lines.emplace(stream.id, item.line);
    if (!is_new && !stream.id.empty()) {
      problems.add(item.line, fmt::format("playback: another stream has the id {} too (in line "
                                          "{}); give each its own",
                                          in_quotes(stream.id), first->second));
    }
    streams.push_back(std::move(stream));
  }
  return streams;
}

}  // namespace assay::session
