// SPDX-License-Identifier: Apache-2.0
#include "spec_app.h"

#include "spec_checks.h"
#include "spec_values.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include <assay/base/text.h>

namespace assay::session {
namespace {

constexpr std::array<std::string_view, 6> kOurs = {"name",  "namespace", "version",
                                                   "image", "command",   "profiling"};
/// Keys of the section that nobody else uses at the top level.
constexpr std::array<std::string_view, 12> kOfSection = {
    "targets",  "goals", "timeout", "repeat",      "warmup",          "args",
    "interval", "grace", "metrics", "docker_args", "app_docker_args", "playback"};
constexpr std::array<std::string_view, 5> kLimits = {"cpus", "memory", "pids", "gpus", "network"};
/// Keys of other tools that would otherwise pass for slips of ours.
constexpr std::array<std::string_view, 2> kTheirs = {"images", "commands"};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::optional<std::string_view> misspelt(std::string_view key) {
  if (std::find(kTheirs.begin(), kTheirs.end(), key) != kTheirs.end()) return std::nullopt;
  const std::string word = lower(key);
  for (const auto ours : kOurs) {
    if (is_one_slip(word, ours)) return ours;
  }
  if (word.rfind("prof", 0) == 0) return "profiling";
  return std::nullopt;
}

/// Text or, where nothing is written, nothing: real files have `version: ""`.
std::string lenient_text(const Field& field, Problems& problems) {
  if (field.value.IsNull()) return {};
  if (field.value.IsScalar() && trim(field.value.Scalar()).empty()) return {};
  return read_text(field, problems).value_or("");
}

Profiling read_section(const Field& field, Problems& problems) {
  if (field.value.IsMap()) return read_profiling(field.value, problems);
  if (!field.value.IsNull()) {
    problems.add(field.line,
                 fmt::format("profiling: must be a map, not {}; write for example \"profiling: "
                             "{{targets: [{{args: --fast, timeout: 60}}]}}\"",
                             kind_of(field.value)));
  }
  Profiling nothing;
  nothing.defaults.line = field.line;
  return nothing;
}

void read_ours(const Field& field, AppFile& file, Problems& problems) {
  if (field.key == "name") file.app.name = lenient_text(field, problems);
  if (field.key == "namespace") file.app.name_space = lenient_text(field, problems);
  if (field.key == "version") file.app.version = lenient_text(field, problems);
  if (field.key == "image" || field.key == "command") read_key(field, file.section, problems);
}

/// `resources` is also other tools' key for a list of cameras and sensors.
bool belongs_into_section(const Field& field) {
  if (field.key == "resources" && field.value.IsMap()) {
    return std::any_of(kLimits.begin(), kLimits.end(),
                       [&](std::string_view key) { return field.value[std::string(key)]; });
  }
  return std::find(kOfSection.begin(), kOfSection.end(), field.key) != kOfSection.end();
}

/// A key that is not ours: a slip, a key that stands a level too high, or somebody else's.
void check_theirs(const Field& field, bool has_profiling, Problems& problems) {
  if (const auto meant = misspelt(field.key)) {
    problems.add(field.line,
                 fmt::format("unknown key {}; did you mean '{}'?", in_quotes(field.key), *meant));
  } else if (!has_profiling && belongs_into_section(field)) {
    problems.add(field.line, fmt::format("'{}' belongs into the section 'profiling'; write "
                                         "\"profiling:\" above it and indent it",
                                         field.key));
  }
}

}  // namespace

AppFile read_app(const YAML::Node& root, bool skip_profiling, Problems& problems) {
  AppFile file;
  const auto fields = fields_of(root, kOurs, problems);
  const bool has_profiling =
      skip_profiling || std::any_of(fields.begin(), fields.end(),
                                    [](const Field& f) { return f.key == "profiling"; });
  for (const auto& field : fields) {
    if (std::find(kOurs.begin(), kOurs.end(), field.key) == kOurs.end()) {
      check_theirs(field, has_profiling, problems);
    } else if (field.key != "profiling") {
      read_ours(field, file, problems);
    } else if (!skip_profiling) {
      file.profiling = read_section(field, problems);
    }
  }
  return file;
}

Profiling read_profile(const YAML::Node& root, Problems& problems) {
  const auto fields = fields_of(root, kOurs, problems);
  for (const auto& field : fields) {
    if (field.key == "profiling") return read_section(field, problems);
  }
  for (const auto& field : fields) {
    if (misspelt(field.key) == "profiling") {
      check_theirs(field, true, problems);
      return {};
    }
  }
  return read_profiling(root, problems);
}

App app_of_image(const std::string& image) {
  App app;
  app.image = image;
  std::string_view rest = image;
  const std::string_view digest =
      rest.find('@') == rest.npos ? "" : rest.substr(rest.find('@') + 1);
  rest = rest.substr(0, rest.find('@'));
  const size_t slash = rest.rfind('/');
  std::string_view last = slash == rest.npos ? rest : rest.substr(slash + 1);
  app.name = next_field(last, ':');
  app.version = last.empty() ? digest : last;
  std::string_view space = slash == rest.npos ? "" : rest.substr(0, slash);
  const std::string_view first = space.substr(0, space.find('/'));
  if (first.find_first_of(".:") != first.npos || first == "localhost") {
    space.remove_prefix(std::min(space.size(), first.size() + 1));
  }
  app.name_space = space;
  return app;
}

}  // namespace assay::session
