// SPDX-License-Identifier: Apache-2.0
#include "docker/docker_values.h"
#include "docker/policy.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <yaml-cpp/yaml.h>

#include <assay/base/files.h>
#include <assay/base/text.h>

namespace assay::launch {
namespace fs = std::filesystem;
namespace {

constexpr size_t kLargestFile = 64U << 10U;
constexpr size_t kMostProblems = 20;
constexpr size_t kLongestKey = 40;
constexpr const char* kUsualFile = "/etc/assay/policy.yaml";

struct ListKey {
  std::string_view name;
  std::vector<std::string> Policy::*list;
};
constexpr std::array<ListKey, 10> kLists = {{{"datasets", &Policy::datasets},
                                             {"volumes", &Policy::volumes},
                                             {"devices", &Policy::devices},
                                             {"networks", &Policy::networks},
                                             {"env", &Policy::env},
                                             {"capabilities", &Policy::capabilities},
                                             {"ipc", &Policy::ipc},
                                             {"pid", &Policy::pid},
                                             {"security", &Policy::security},
                                             {"runtimes", &Policy::runtimes}}};
constexpr std::array<std::string_view, 14> kKeys = {
    "mounts", "dataset", "datasets",     "volumes", "devices",  "networks", "env",
    "gpus",   "ipc",     "capabilities", "pid",     "security", "runtimes", "privileged"};
constexpr std::array<std::string_view, 4> kMountKeys = {"path", "file", "target", "write"};

int line_of(const YAML::Node& node) {
  return node.Mark().line + 1;
}

class PolicyReader {
 public:
  PolicyReader(const std::string& text, const fs::path& file) : text_(text) { policy_.file = file; }

  Result<Policy> read() {
    if (is_plain_text() && has_one_document()) load();
    if (problems_.empty()) return std::move(policy_);
    std::string all;
    for (size_t i = 0; i < std::min(problems_.size(), kMostProblems); ++i)
      all += (i == 0 ? "" : "; ") + problems_[i];
    return bad_input(all);
  }

 private:
  void add(int line, const std::string& message) {
    problems_.push_back(line > 0 ? fmt::format("{}:{}: {}", policy_.file.native(), line, message)
                                 : fmt::format("{}: {}", policy_.file.native(), message));
  }

  /// YAML's reader takes some of the forbidden bytes for the end of the file.
  bool is_plain_text() {
    std::string_view rest = text_;
    for (int line = 1; !rest.empty(); ++line) {
      std::string_view content = next_field(rest, '\n');
      if (content.ends_with('\r')) content.remove_suffix(1);
      if (!has_control_characters(content)) continue;
      add(line, "has a tab or another control character; use spaces and plain text");
      return false;
    }
    return true;
  }

  bool has_one_document() {
    std::string_view rest = text_;
    bool begun = false;
    for (int line = 1; !rest.empty(); ++line) {
      const std::string_view content = next_field(rest, '\n');
      if (begun && (content.starts_with("---") || content.starts_with("..."))) {
        add(line, "a second document starts here; keep one per file");
        return false;
      }
      begun = begun || !(trim(content).empty() || content.starts_with('#'));
    }
    return true;
  }

  void load() {
    try {
      const YAML::Node root = YAML::Load(text_);
      if (root.IsNull()) {
        add(0, "is empty; write what is allowed, or remove the file for the built-in policy");
      } else if (!root.IsMap()) {
        add(line_of(root), "must have keys with values, as in \"networks: [bridge]\"");
      } else {
        read_keys(root);
      }
    } catch (const YAML::Exception& error) {
      add(error.mark.line + 1, fmt::format("not valid YAML: {}", error.msg));
    } catch (const std::exception& error) {
      add(0, fmt::format("not readable as YAML: {}", error.what()));
    }
  }

  void read_keys(const YAML::Node& root) {
    for (const auto& entry : root) {
      const int line = line_of(entry.first);
      const auto key = text_of(entry.first, line, "a key");
      if (!key) continue;
      if (!policy_.lines.emplace(*key, line).second) {
        add(line, fmt::format("{} is given twice", in_quotes(*key)));
      } else {
        read_key(*key, entry.second, line);
      }
    }
  }

  void read_key(const std::string& key, const YAML::Node& value, int line) {
    for (const auto& list : kLists) {
      if (list.name == key) return read_list(value, line, key, policy_.*list.list);
    }
    if (key == "mounts") return read_mounts(value, line);
    if (key == "dataset") return read_dataset(value, line);
    if (key == "gpus") return read_bool(value, line, key, policy_.gpus);
    if (key == "privileged") return read_bool(value, line, key, policy_.privileged);
    unknown(key, line, kKeys);
  }

  void unknown(std::string_view key, int line, std::span<const std::string_view> known) {
    const auto near = nearest(key.substr(0, kLongestKey), known);
    add(line, fmt::format("{} is not known; {}", in_quotes(key),
                          near ? fmt::format("did you mean {}?", *near)
                               : fmt::format("known are {}", fmt::join(known, ", "))));
  }

  /// A text of one line; a quote that is left open would swallow the rules behind it.
  std::optional<std::string> text_of(const YAML::Node& node, int line, std::string_view what) {
    if (!node.IsScalar() || node.Scalar().empty()) {
      add(line, fmt::format("{} must be text", what));
      return std::nullopt;
    }
    if (spans_lines(node) || has_control_characters(node.Scalar())) {
      add(line, fmt::format("{} must be text of one line; is a quote left open?", what));
      return std::nullopt;
    }
    return node.Scalar();
  }

  bool spans_lines(const YAML::Node& node) const {
    const auto at = static_cast<size_t>(std::max(0, node.Mark().pos));
    if (at >= text_.size() || (text_[at] != '"' && text_[at] != '\'')) return false;
    const std::string_view rest = std::string_view(text_).substr(at + 1);
    const std::string_view line = rest.substr(0, rest.find('\n'));
    return line.find(text_[at]) == line.npos;
  }

  void read_list(const YAML::Node& value, int line, const std::string& key,
                 std::vector<std::string>& list) {
    list.clear();
    if (value.IsSequence()) {
      for (const auto& item : value) {
        const auto text = text_of(item, item.IsScalar() ? line_of(item) : line, key);
        if (text) list.push_back(key == "capabilities" ? capability_name(*text) : *text);
        if (text && key == "datasets" && !text->starts_with('/'))
          add(line_of(item), "datasets must have paths from /, as in [/srv/data]");
      }
    } else {
      add(line, fmt::format("{} must be a list, as in [a, b], or [] for none", key));
    }
  }

  void read_bool(const YAML::Node& value, int line, const std::string& key, bool& flag) {
    const auto text = text_of(value, line, key);
    if (!text) return;
    if (*text != "true" && *text != "false") {
      add(line, fmt::format("{} must be true or false", key));
      return;
    }
    flag = *text == "true";
  }

  void read_dataset(const YAML::Node& value, int line) {
    const auto text = text_of(value, line, "dataset");
    if (!text) return;
    if (*text == "none") {
      policy_.dataset = DatasetUse::none;
    } else if (*text == "read") {
      policy_.dataset = DatasetUse::read;
    } else if (*text == "write") {
      policy_.dataset = DatasetUse::write;
    } else {
      add(line, "dataset must be none, read or write");
    }
  }

  void read_mounts(const YAML::Node& value, int line) {
    if (!value.IsSequence()) {
      add(line, "mounts must be a list, as in [{path: /data}], or [] for none");
      return;
    }
    for (const auto& item : value) {
      MountRule rule;
      const int where = item.IsDefined() && !item.IsNull() ? line_of(item) : line;
      if (item.IsMap()) {
        read_rule(item, rule);
      } else if (const auto path = text_of(item, where, "a mount")) {
        rule.path = *path;
      }
      if (!rule.path.is_absolute()) {
        add(where, "a mount must have a path from /, as in {path: /data}");
      } else {
        policy_.mounts.push_back(std::move(rule));
      }
    }
  }

  void read_rule(const YAML::Node& map, MountRule& rule) {
    std::map<std::string, int> seen;
    for (const auto& entry : map) {
      const int line = line_of(entry.first);
      const auto key = text_of(entry.first, line, "a key");
      if (!key) continue;
      if (!seen.emplace(*key, line).second) {
        add(line, fmt::format("{} is given twice", in_quotes(*key)));
      } else if (*key == "write") {
        read_bool(entry.second, line, "write", rule.write);
      } else if (std::find(kMountKeys.begin(), kMountKeys.end(), *key) == kMountKeys.end()) {
        unknown(*key, line, kMountKeys);
      } else if (const auto text = text_of(entry.second, line, *key)) {
        set_rule(*key, *text, line, rule);
      }
    }
  }

  void set_rule(std::string_view key, const std::string& text, int line, MountRule& rule) {
    if (key == "path") {
      rule.path = text;
    } else if (key == "target") {
      rule.target = fs::path(text).lexically_normal();
      if (!text.starts_with('/')) add(line, "target must be a whole path inside the container");
    } else {
      rule.file = text;
      if (text.find('/') != text.npos) add(line, "file must be a name without folders");
    }
  }

  const std::string& text_;
  Policy policy_;
  std::vector<std::string> problems_;
};

}  // namespace

Result<Policy> parse_policy(const std::string& text, const fs::path& file) {
  return PolicyReader(text, file).read();
}

Result<Policy> read_policy(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0)
    return refused_errno(fmt::format("cannot read the policy {}", file.native()), errno);
  if (!S_ISREG(info.st_mode))
    return refused(fmt::format("the policy {} is not a regular file", file.native()));
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return refused(
        fmt::format("the policy {} may be written by others than its owner; as its "
                    "owner run: chmod go-w {}",
                    file.native(), file.native()));
  }
  ASSAY_TRY(const std::string text, read_file(file, kLargestFile));
  return parse_policy(text, file);
}

Result<Policy> find_policy() {
  if (const char* named = std::getenv("ASSAY_POLICY"); named != nullptr && *named != '\0')
    return read_policy(named);
  struct stat info {};
  // Only a file that is surely not there leaves the built-in policy.
  if (::stat(kUsualFile, &info) != 0 && (errno == ENOENT || errno == ENOTDIR))
    return default_policy();
  return read_policy(kUsualFile);
}

}  // namespace assay::launch
