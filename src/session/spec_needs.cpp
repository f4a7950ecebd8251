// SPDX-License-Identifier: Apache-2.0
#include "spec_checks.h"
#include "spec_values.h"

#include <algorithm>
#include <array>
#include <set>

#include <assay/base/text.h>

namespace assay::session {
namespace {

constexpr size_t kMostNeeds = 20;
constexpr size_t kLongestName = 63;
constexpr uint64_t kMostPorts = 65535;
constexpr std::array<std::string_view, 8> kNeedKeys = {
    "name", "image", "command", "env", "ready", "ready_port", "ready_log", "ready_timeout"};
constexpr std::array<std::string_view, 3> kReadyKeys = {"port", "log", "timeout"};
/// Taken by the container itself, and by the logs of the app.
constexpr std::array<std::string_view, 3> kTakenNames = {"localhost", "stdout", "stderr"};
constexpr std::string_view kExample = "{name: broker, image: rabbitmq:3, ready: {port: 5672}}";

bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

Result<void> check_name(std::string_view name) {
  const bool valid = is_alnum(name.front()) && name.size() <= kLongestName &&
                     std::all_of(name.begin(), name.end(), [](char c) {
                       return is_alnum(c) || c == '-' || c == '_' || c == '.';
                     });
  if (std::find(kTakenNames.begin(), kTakenNames.end(), name) != kTakenNames.end())
    return bad_input(
        fmt::format("{} means something else already; choose another name", in_quotes(name)));
  if (valid) return {};
  return bad_input(fmt::format(
      "{} is not a container's name; use letters, digits, -, _ and ., at most {}, and a letter "
      "or digit first",
      in_quotes(name), kLongestName));
}

Result<int> parse_port(const std::string& text) {
  const auto port = parse_uint(text);
  if (port && *port >= 1 && *port <= kMostPorts) return static_cast<int>(*port);
  return bad_input(fmt::format("{} is not a port; choose 1 to {}", in_quotes(text), kMostPorts));
}

/// Reads one container of `needs`.
class NeedReader {
 public:
  explicit NeedReader(Problems& problems) : problems_(problems) {}

  Need read(const Field& item) {
    const size_t before = problems_.size();
    for (const auto& field : fields_of(item.value, problems_)) read_key(field);
    if (problems_.size() == before && (need_.name.empty() || need_.image.empty())) {
      problems_.add(item.line, fmt::format("needs: each has a name and an image; write for example "
                                           "{}",
                                           kExample));
    }
    return std::move(need_);
  }

 private:
  void read_key(const Field& field) {
    if (field.key == "name") {
      const auto name = read_text(field, problems_);
      if (name && keep(check_name(*name), field, problems_)) need_.name = *name;
    } else if (field.key == "image") {
      const auto image = read_text(field, problems_);
      if (image && keep(check_image(*image), field, problems_)) need_.image = *image;
    } else if (field.key == "command") {
      need_.command = read_words(field, problems_).value_or(need_.command);
    } else if (field.key == "env") {
      need_.env = read_env(field, problems_);
    } else if (field.key == "ready") {
      read_ready(field);
    } else if (!field.key.starts_with("ready_") || !read_ready_part(field.key.substr(6), field)) {
      unknown_key(field, kNeedKeys, problems_);
    }
  }

  void read_ready(const Field& field) {
    if (!field.value.IsMap()) {
      wrong_type(field, "a map", "{port: 5672, timeout: 30s}", problems_);
      return;
    }
    for (const auto& part : fields_of(field.value, problems_)) {
      if (!read_ready_part(part.key, part)) unknown_key(part, kReadyKeys, problems_);
    }
  }

  /// Whether there is such a part.
  bool read_ready_part(const std::string& part, const Field& field) {
    if (std::find(kReadyKeys.begin(), kReadyKeys.end(), part) == kReadyKeys.end()) return false;
    if (!seen_.insert(part).second) {
      problems_.add(field.line, fmt::format("{}: is given twice, in ready and as ready_{}; remove "
                                            "one of them",
                                            field.key, part));
    } else if (part == "log") {
      need_.ready_log = read_text(field, problems_).value_or("");
    } else if (part == "timeout") {
      read_timeout(field);
    } else if (const auto text = read_scalar(field, "a port", "5672", problems_)) {
      need_.ready_port = keep(parse_port(*text), field, problems_);
    }
    return true;
  }

  void read_timeout(const Field& field) {
    const auto timeout = read_duration(field, problems_);
    if (timeout && timeout->count() == 0) {
      problems_.add(field.line, fmt::format("{}: leaves no time to get ready; write for example "
                                            "30s",
                                            field.key));
    }
    need_.ready_timeout = timeout.value_or(need_.ready_timeout);
  }

  Problems& problems_;
  Need need_;
  std::set<std::string> seen_;
};

}  // namespace

std::optional<std::vector<Need>> read_needs(const Field& field, Problems& problems) {
  std::vector<Need> needs;
  std::map<std::string, int> lines;
  for (const auto& item : maps_of(field, kMostNeeds, kExample, problems)) {
    Need need = NeedReader(problems).read(item);
    const auto [first, is_new] = lines.emplace(need.name, item.line);
    if (!is_new && !need.name.empty()) {
      problems.add(item.line,
                   fmt::format("needs: another one is called {} too (in line {}); give each its "
                               "own name",
                               in_quotes(need.name), first->second));
    }
    needs.push_back(std::move(need));
  }
  return needs;
}

std::optional<std::vector<std::string>> read_docker_args(const Field& field, Problems& problems) {
  auto words = read_words(field, problems);
  if (!words || !keep(check_docker_args(*words), field, problems)) return std::nullopt;
  return words;
}

}  // namespace assay::session
