// SPDX-License-Identifier: Apache-2.0
#include "spec_section.h"

#include "spec_checks.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace assay::session {
namespace {

/// Bounds what one small file with aliases can grow to.
constexpr size_t kMostTargets = 100;

constexpr std::string_view kDockerArgs = "docker_args";
/// What existing callers call it.
constexpr std::string_view kDockerArgsToo = "app_docker_args";

using Reader = void (*)(const Field&, Section&, Problems&);
struct Key {
  std::string_view name;
  Reader read;
};

void read_interval(const Field& field, Section& section, Problems& problems) {
  const auto interval = read_duration(field, problems);
  if (interval) section.interval = keep(check_interval(*interval), field, problems);
}

void read_image(const Field& field, Section& section, Problems& problems) {
  const auto image = read_text(field, problems);
  if (image && keep(check_image(*image), field, problems)) section.image = image;
}

void read_command(const Field& field, Section& section, Problems& problems) {
  section.command = read_words(field, problems);
  if (section.command && section.command->empty()) {
    problems.add(field.line, "command: is empty; name the program to run, or remove the key");
  }
}

void read_docker_args_once(const Field& field, Section& section, Problems& problems) {
  if (section.places.contains(std::string(kDockerArgs))) {
    problems.add(field.line, "docker_args and app_docker_args are one; remove one of them");
  } else {
    section.docker_args = read_docker_args(field, problems);
  }
}

constexpr std::array<Key, 19> kKeys = {{
    {"args", [](const Field& f, Section& s, Problems& p) { s.args = read_words(f, p); }},
    {"command", read_command},
    {"dataset", [](const Field& f, Section& s, Problems& p) { s.dataset = read_dataset(f, p); }},
    {"docker_args", read_docker_args_once},
    {"env", [](const Field& f, Section& s, Problems& p) { s.env = read_env(f, p); }},
    {"goals", [](const Field& f, Section& s, Problems& p) { s.goals = read_goals(f, p); }},
    {"grace", [](const Field& f, Section& s, Problems& p) { s.grace = read_duration(f, p); }},
    {"image", read_image},
    {"interval", read_interval},
    {"metrics", [](const Field& f, Section& s, Problems& p) { s.metrics = read_metrics(f, p); }},
    {"name", [](const Field& f, Section& s, Problems& p) { s.name = read_text(f, p); }},
    {"needs", [](const Field& f, Section& s, Problems& p) { s.needs = read_needs(f, p); }},
    {"playback", [](const Field& f, Section& s, Problems& p) { s.playback = read_playback(f, p); }},
    {"repeat", [](const Field& f, Section& s, Problems& p) { s.repeat = read_repeat(f, p); }},
    {"resources", [](const Field& f, Section& s, Problems& p) { s.limits = read_resources(f, p); }},
    {"runtime", [](const Field& f, Section& s, Problems& p) { s.runtime = read_runtime(f, p); }},
    {"timeout", [](const Field& f, Section& s, Problems& p) { s.timeout = read_duration(f, p); }},
    {"warmup", [](const Field& f, Section& s, Problems& p) { s.warmup = read_duration(f, p); }},
    {"workdir", [](const Field& f, Section& s, Problems& p) { s.workdir = read_text(f, p); }},
}};

const Key* find_key(std::string_view name) {
  if (name == kDockerArgsToo) name = kDockerArgs;
  const auto* const key =
      std::find_if(kKeys.begin(), kKeys.end(), [&](const Key& k) { return k.name == name; });
  return key == kKeys.end() ? nullptr : key;
}

/// What may stand in a target, or in the section around the targets.
std::vector<std::string_view> key_names(bool in_target) {
  std::vector<std::string_view> names;
  for (const auto& key : kKeys) {
    if (in_target || key.name != "name") names.push_back(key.name);
  }
  if (!in_target) names.push_back("targets");
  return names;
}

Section read_target(const YAML::Node& node, size_t number, Problems& problems) {
  Section section;
  section.line = line_of(node);
  if (!node.IsMap()) {
    problems.add(
        section.line,
        fmt::format("target {} must be a map, not {}; write for example {{args: \"--fast\", "
                    "timeout: 60}}",
                    number, kind_of(node)));
    return section;
  }
  for (const auto& field : fields_of(node, problems)) {
    if (find_key(field.key) != nullptr) {
      read_key(field, section, problems);
    } else if (field.key == "targets") {
      problems.add(field.line, "a target has no targets of its own; move them one level up");
    } else {
      unknown_key(field, key_names(true), problems);
    }
  }
  return section;
}

/// Results are told apart by these names.
void check_names(const std::vector<Section>& targets, Problems& problems) {
  std::map<std::string, int> lines;
  for (const auto& target : targets) {
    if (!target.name || target.name->empty()) continue;
    const int line = target.places.at("name").line;
    const auto [first, is_new] = lines.emplace(*target.name, line);
    if (is_new) continue;
    problems.add(line,
                 fmt::format("another target is called {} too (in line {}); give each its own name",
                             in_quotes(*target.name), first->second));
  }
}

std::vector<Section> read_targets(const Field& field, Problems& problems) {
  std::vector<Section> targets;
  if (!field.value.IsSequence() || field.value.size() == 0) {
    problems.add(field.line,
                 fmt::format("targets: must be a list with at least one entry, not {}; write for "
                             "example \"- {{args: --fast, timeout: 60}}\", or remove the key",
                             field.value.IsSequence() ? "an empty one" : kind_of(field.value)));
    return targets;
  }
  if (field.value.size() > kMostTargets) {
    problems.add(field.line, fmt::format("targets: {} are too many; the most is {}",
                                         field.value.size(), kMostTargets));
    return targets;
  }
  for (const auto& node : field.value) {
    targets.push_back(read_target(node, targets.size() + 1, problems));
  }
  check_names(targets, problems);
  return targets;
}

template <class T>
void lay_over(std::optional<T>& upper, const std::optional<T>& lower) {
  if (lower) upper = lower;
}

void lay_over(Limits& upper, const Limits& lower) {
  lay_over(upper.cpus, lower.cpus);
  lay_over(upper.memory_bytes, lower.memory_bytes);
  lay_over(upper.pids, lower.pids);
  if (!lower.gpus.empty()) upper.gpus = lower.gpus;
  lay_over(upper.network.rate_bits_per_second, lower.network.rate_bits_per_second);
  lay_over(upper.network.delay, lower.network.delay);
  lay_over(upper.network.loss_ratio, lower.network.loss_ratio);
}

}  // namespace

void read_key(const Field& field, Section& section, Problems& problems) {
  const Key* key = find_key(field.key);
  if (key == nullptr) return;
  key->read(field, section, problems);
  section.places.try_emplace(std::string(key->name), Place{problems.file(), field.line});
}

Profiling read_profiling(const YAML::Node& section, Problems& problems) {
  Profiling profiling;
  profiling.defaults.line = line_of(section);
  for (const auto& field : fields_of(section, problems)) {
    if (field.key == "targets") {
      profiling.targets = read_targets(field, problems);
    } else if (find_key(field.key) != nullptr && field.key != "name") {
      read_key(field, profiling.defaults, problems);
    } else {
      unknown_key(field, key_names(false), problems);
    }
  }
  return profiling;
}

Section overlay(Section upper, const Section& lower) {
  lay_over(upper.name, lower.name);
  lay_over(upper.image, lower.image);
  lay_over(upper.command, lower.command);
  lay_over(upper.args, lower.args);
  lay_over(upper.workdir, lower.workdir);
  lay_over(upper.dataset, lower.dataset);
  lay_over(upper.runtime, lower.runtime);
  lay_over(upper.docker_args, lower.docker_args);
  lay_over(upper.playback, lower.playback);
  lay_over(upper.needs, lower.needs);
  lay_over(upper.timeout, lower.timeout);
  lay_over(upper.warmup, lower.warmup);
  lay_over(upper.interval, lower.interval);
  lay_over(upper.grace, lower.grace);
  lay_over(upper.repeat, lower.repeat);
  lay_over(upper.metrics, lower.metrics);
  lay_over(upper.limits, lower.limits);
  for (const auto& [name, value] : lower.env) upper.env[name] = value;
  for (const auto& [key, place] : lower.places) upper.places[key] = place;
  merge_goals(upper.goals, lower.goals);
  if (lower.line > 0) upper.line = lower.line;
  return upper;
}

}  // namespace assay::session
