// SPDX-License-Identifier: Apache-2.0
#include "decide/spec_goals.h"

#include <algorithm>
#include <array>
#include <system_error>

#include <assay/base/files.h>
#include <assay/base/yaml.h>
#include <assay/samples/goal.h>

namespace assay::agent {

namespace fs = std::filesystem;

namespace {

constexpr YamlUse kSpec = {
    .what = "a spec", .least = "write at least a name", .example = "name: my-app"};
constexpr std::array<std::string_view, 4> kOurs = {"name", "namespace", "version", "profiling"};
constexpr std::array<std::string_view, 1> kGoals = {"goals"};
constexpr size_t kMostSpecs = 1000;

/// A list of goals, or a map of them: {fps: ">= 10"}.
void read_goals(const Field& field, std::vector<Goal>& goals, Problems& problems) {
  const auto add = [&](const Field& where, const std::string& text) {
    if (auto goal = keep(parse_goal(text), where, problems)) goals.push_back(std::move(*goal));
  };
  if (field.value.IsMap()) {
    for (const auto& entry : fields_of(field.value, problems))
      if (const auto text = read_text(entry, problems)) add(entry, entry.key + " " + *text);
    return;
  }
  for (const auto& item : items_of(field))
    if (const auto text = read_text(item, problems)) add(item, *text);
}

void read_profiling(const Field& field, SpecGoals& spec, Problems& problems) {
  if (!field.value.IsMap()) return;
  for (const auto& inner : fields_of(field.value, kGoals, problems))
    if (inner.key == "goals") read_goals(inner, spec.goals, problems);
}

void read_one(const fs::path& file, SpecFolder& found) {
  Problems problems(file.native());
  const auto text = read_file(file, kLargestYaml);
  if (!text) {
    problems.add(0, text.error().message);
  } else if (auto spec = parse_spec_goals(*text, problems); !spec.goals.empty()) {
    found.specs.push_back(std::move(spec));
  }
  for (auto& error : problems.take()) found.errors.push_back(std::move(error));
}

}  // namespace

bool SpecGoals::is_of(std::string_view image) const {
  const std::string whole = name_space.empty() ? name : name_space + "/" + name;
  const size_t colon = image.rfind(':');
  const bool has_tag = colon != std::string_view::npos && image.find('/', colon) == image.npos;
  const std::string_view path = has_tag ? image.substr(0, colon) : image;
  const std::string_view tag = has_tag ? image.substr(colon + 1) : std::string_view();
  if (!path.ends_with(whole) || (!version.empty() && tag != version)) return false;
  return path.size() == whole.size() || path[path.size() - whole.size() - 1] == '/';
}

SpecGoals parse_spec_goals(const std::string& text, Problems& problems) {
  SpecGoals spec;
  const auto root = load_map(text, kSpec, problems);
  if (!root) return spec;
  for (const auto& field : fields_of(*root, kOurs, problems)) {
    if (field.key == "profiling") read_profiling(field, spec, problems);
    if (field.key == "name") spec.name = read_text(field, problems).value_or("");
    if (field.key == "namespace") spec.name_space = read_text(field, problems).value_or("");
    if (field.key == "version") spec.version = read_text(field, problems).value_or("");
  }
  if (spec.name.empty()) spec.goals.clear();
  return spec;
}

SpecFolder read_specs(const fs::path& folder) {
  SpecFolder found;
  std::vector<fs::path> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                         error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry.depth() > 0) entry.disable_recursion_pending();
    if (entry->path().extension() == ".yaml" && files.size() < kMostSpecs)
      files.push_back(entry->path());
  }
  if (error) found.errors.push_back({folder.native(), 0, error.message()});
  std::sort(files.begin(), files.end());
  for (const auto& file : files) read_one(file, found);
  return found;
}

}  // namespace assay::agent
