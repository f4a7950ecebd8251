// SPDX-License-Identifier: Apache-2.0
#include "spec_values.h"

#include "spec_checks.h"

#include <algorithm>
#include <array>
#include <utility>

#include <assay/base/text.h>
#include <assay/base/time.h>
#include <assay/samples/goal.h>

namespace assay::session {
namespace {

constexpr size_t kMostGoals = 100;

constexpr std::string_view kWordsExample = "\"--size 640 --fast\" or [--size, 640, --fast]";
constexpr std::string_view kEnvExample = "{LEVEL: debug} or [LEVEL=debug]";

std::optional<std::vector<std::string>> words_of(const std::string& text, const Field& field,
                                                 Problems& problems) {
  if (auto words = split_words(text)) return std::move(*words);
  problems.add(field.line, fmt::format("{}: a quote or a backslash at the end is left open in {}; "
                                       "close it, or give a list of words",
                                       field.key, in_quotes(masked_text(text))));
  return std::nullopt;
}

void add_env(const Field& field, const std::string& name, const std::string& value,
             std::map<std::string, std::string>& env, Problems& problems) {
  if (!keep(check_env_name(name), field, problems)) return;
  if (!env.emplace(name, value).second) {
    problems.add(field.line,
                 fmt::format("{}: {} is given again; remove one of them", field.key, name));
  }
}

void add_goal(const Field& field, const std::string& text, std::vector<Goal>& goals,
              Problems& problems) {
  if (goals.size() == kMostGoals) {
    problems.add(field.line, fmt::format("goals: too many; the most is {}", kMostGoals));
  } else if (goals.size() < kMostGoals) {
    if (auto goal = keep(parse_goal(text), field, problems)) goals.push_back(std::move(*goal));
  }
}

}  // namespace

std::optional<std::vector<std::string>> read_words(const Field& field, Problems& problems) {
  if (field.value.IsNull()) return std::vector<std::string>();
  if (!field.value.IsSequence()) {
    const auto text = read_scalar(field, "text or a list of words", kWordsExample, problems);
    return text ? words_of(*text, field, problems) : std::nullopt;
  }
  std::vector<std::string> words;
  for (const auto& item : items_of(field)) {
    if (auto word = read_scalar(item, "a list of words", kWordsExample, problems)) {
      words.push_back(std::move(*word));
    }
  }
  return words;
}

std::optional<int> read_repeat(const Field& field, Problems& problems) {
  const auto text = read_scalar(field, "a whole number", "3", problems);
  if (!text) return std::nullopt;
  const auto count = parse_int(*text);
  if (!count) {
    problems.add(field.line, fmt::format("{}: {} is not a whole number; write for example 3",
                                         field.key, in_quotes(*text)));
    return std::nullopt;
  }
  return keep(check_repeat(*count), field, problems);
}

std::optional<std::vector<std::string>> read_metrics(const Field& field, Problems& problems) {
  std::vector<std::string> names;
  const size_t before = problems.size();
  for (const auto& item : items_of(field)) {
    const auto text = read_scalar(item, "a list of names", "[system, power]", problems);
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    while (!rest.empty()) {
      const auto name = std::string(trim(next_field(rest, ',')));
      if (!name.empty() && keep(check_metrics({name}), item, problems)) names.push_back(name);
    }
  }
  if (problems.size() > before) return std::nullopt;
  return keep(check_metrics(names), field, problems);
}

std::optional<std::string> read_runtime(const Field& field, Problems& problems) {
  const auto runtime = read_scalar(field, "a name", "process", problems);
  return runtime ? keep(check_runtime(*runtime), field, problems) : std::nullopt;
}

std::map<std::string, std::string> read_env(const Field& field, Problems& problems) {
  std::map<std::string, std::string> env;
  if (field.value.IsMap()) {
    for (Field variable : fields_of(field.value, problems)) {
      const auto name = std::exchange(variable.key, "env");
      const auto value = read_scalar(variable, "a map of names to text", kEnvExample, problems);
      if (value) add_env(variable, name, *value, env, problems);
    }
  } else if (field.value.IsSequence()) {
    for (const auto& item : items_of(field)) {
      const auto text = read_scalar(item, "a list of NAME=VALUE", kEnvExample, problems);
      if (!text) continue;
      const size_t equal = text->find('=');
      if (equal == std::string::npos) {
        problems.add(item.line, fmt::format("env: {} has no value; write NAME=VALUE",
                                            in_quotes(masked_text(*text))));
      } else {
        add_env(item, text->substr(0, equal), text->substr(equal + 1), env, problems);
      }
    }
  } else if (!field.value.IsNull()) {
    wrong_type(field, "a map or a list", kEnvExample, problems);
  }
  return env;
}

std::vector<Goal> read_goals(const Field& field, Problems& problems) {
  std::vector<Goal> goals;
  if (field.value.IsMap()) {
    for (Field entry : fields_of(field.value, problems)) {
      const auto name = std::exchange(entry.key, "goals");
      const auto bound = read_scalar(entry, "text with a comparison", "\">= 10\"", problems);
      if (bound) add_goal(entry, fmt::format("{} {}", name, *bound), goals, problems);
    }
    return goals;
  }
  if (field.value.IsNull()) {
    wrong_type(field, "a map or a list", "{fps: \">= 10\"}", problems);
    return goals;
  }
  for (const auto& item : items_of(field)) {
    const auto text = read_scalar(item, "a list of comparisons", "[fps >= 10]", problems);
    if (text) add_goal(item, *text, goals, problems);
  }
  return goals;
}

}  // namespace assay::session
