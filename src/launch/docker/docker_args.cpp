// SPDX-License-Identifier: Apache-2.0
#include "docker/docker_args.h"

#include "docker/docker_values.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>

#include <assay/base/text.h>
#include <assay/launch/docker_args.h>

namespace assay::launch {
namespace {

constexpr size_t kMostErrors = 20;
/// Beyond it nothing is near.
constexpr size_t kLongestName = 40;

using Take = Result<void> (*)(DockerArgs&, const std::string& value);

template <auto Member>
Result<void> set_text(DockerArgs& args, const std::string& value) {
  if (value.empty()) return bad_input("has no value");
  args.*Member = value;
  return {};
}

template <auto Member>
Result<void> add_text(DockerArgs& args, const std::string& value) {
  if (value.empty()) return bad_input("has no value");
  (args.*Member).push_back(value);
  return {};
}

template <auto Member, auto Parse>
Result<void> add_parsed(DockerArgs& args, const std::string& value) {
  ASSAY_TRY(auto parsed, Parse(value));
  (args.*Member).push_back(std::move(parsed));
  return {};
}

Result<void> set_env(DockerArgs& args, const std::string& value) {
  const size_t equal = value.find('=');
  const std::string name = value.substr(0, equal);
  if (name.empty() || has_control_characters(name) || name.find(' ') != name.npos)
    return bad_input("must be NAME=VALUE or NAME");
  std::erase(args.env_taken_over, name);
  if (equal != value.npos) {
    args.env[name] = value.substr(equal + 1);
  } else if (const char* ours = std::getenv(name.c_str())) {
    args.env[name] = ours;
    args.env_taken_over.push_back(name);
  }
  return {};
}

Result<void> set_network(DockerArgs& args, const std::string& value) {
  if (value.find_first_of("=, /") != value.npos || value.empty())
    return bad_input(fmt::format("{} is not a network's name", in_quotes(value)));
  if (!args.network.empty() && args.network != value)
    return bad_input("is given twice; one network is possible");
  args.network = value;
  return {};
}

Result<void> set_shm(DockerArgs& args, const std::string& value) {
  const auto bytes = parse_bytes(value);
  if (!bytes) return bad_input("must be a size, as in 64m or 2g");
  args.shm_bytes = *bytes;
  return {};
}

Result<void> set_gpus(DockerArgs& args, const std::string& value) {
  ASSAY_TRY(args.gpus, parse_gpus(value));
  return {};
}

Result<void> set_workdir(DockerArgs& args, const std::string& value) {
  if (!value.starts_with('/')) return bad_input("must be a whole path inside the container");
  args.workdir = value;
  return {};
}

Result<void> add_host(DockerArgs& args, const std::string& value) {
  const size_t colon = value.find(':');
  if (colon == 0 || colon == value.npos || colon + 1 == value.size())
    return bad_input("must be NAME:ADDRESS");
  args.hosts.push_back(value);
  return {};
}

Result<void> add_capability(DockerArgs& args, const std::string& value) {
  const std::string name = capability_name(value);
  if (name.empty()) return bad_input("has no value");
  args.cap_add.push_back(name);
  return {};
}

Result<void> set_privileged(DockerArgs& args, const std::string& value) {
  args.privileged = value == "true";
  return {};
}

struct Option {
  std::string_view name;
  char letter;  ///< 0: none
  bool has_value;
  Take take;  ///< nullptr: without meaning here
};

constexpr std::array kOptions = {
    Option{"--volume", 'v', true, add_parsed<&DockerArgs::mounts, parse_volume>},
    Option{"--mount", 0, true, add_parsed<&DockerArgs::mounts, parse_mount>},
    Option{"--env", 'e', true, set_env},
    Option{"--device", 0, true, add_parsed<&DockerArgs::devices, parse_device>},
    Option{"--network", 0, true, set_network},
    Option{"--net", 0, true, set_network},
    Option{"--shm-size", 0, true, set_shm},
    Option{"--ipc", 0, true, set_text<&DockerArgs::ipc>},
    Option{"--pid", 0, true, set_text<&DockerArgs::pid>},
    Option{"--gpus", 0, true, set_gpus},
    Option{"--privileged", 0, false, set_privileged},
    Option{"--user", 'u', true, set_text<&DockerArgs::user>},
    Option{"--workdir", 'w', true, set_workdir},
    Option{"--hostname", 'h', true, set_text<&DockerArgs::hostname>},
    Option{"--entrypoint", 0, true, set_text<&DockerArgs::entrypoint>},
    Option{"--runtime", 0, true, set_text<&DockerArgs::runtime>},
    Option{"--add-host", 0, true, add_host},
    Option{"--cap-add", 0, true, add_capability},
    Option{"--security-opt", 0, true, add_text<&DockerArgs::security>},
    Option{"--ulimit", 0, true, add_parsed<&DockerArgs::ulimits, parse_ulimit>},
    Option{"--detach", 'd', false, nullptr},
    Option{"--interactive", 'i', false, nullptr},
    Option{"--tty", 't', false, nullptr},
    Option{"--rm", 0, false, nullptr},
    Option{"--name", 0, true, nullptr},
};

const Option* find_long(std::string_view name) {
  const auto* found = std::find_if(kOptions.begin(), kOptions.end(),
                                   [&](const Option& option) { return option.name == name; });
  return found == kOptions.end() ? nullptr : found;
}

const Option* find_letter(char letter) {
  const auto* found = std::find_if(kOptions.begin(), kOptions.end(), [&](const Option& option) {
    return option.letter != 0 && option.letter == letter;
  });
  return found == kOptions.end() ? nullptr : found;
}

/// Limits have a place of their own, where they are told in the results.
bool is_a_limit(std::string_view name) {
  return name == "--cpus" || name == "--memory" || name == "--pids-limit";
}

std::string suggestion(std::string_view name) {
  if (is_a_limit(name)) return "write it into resources (cpus, memory, pids)";
  std::array<std::string_view, kOptions.size()> names;
  std::transform(kOptions.begin(), kOptions.end(), names.begin(),
                 [](const Option& option) { return option.name; });
  const auto near = nearest(name.substr(0, kLongestName), names);
  return near ? fmt::format("did you mean {}?", *near) : "leave it out";
}

/// Goes through the words as docker's own reader of options does.
class ArgsReader {
 public:
  explicit ArgsReader(const std::vector<std::string>& words) : words_(words) {}

  Result<DockerArgs> read() {
    while (next_ < words_.size() && errors_.size() <= kMostErrors) read_word(words_[next_++]);
    if (errors_.empty()) return std::move(args_);
    std::string all;
    for (size_t i = 0; i < std::min(errors_.size(), kMostErrors); ++i)
      all += (i == 0 ? "" : "; ") + errors_[i];
    if (errors_.size() > kMostErrors) all += "; and more";
    return bad_input(all);
  }

 private:
  void read_word(const std::string& word) {
    if (word.starts_with("--") && word.size() > 2) {
      read_long(word);
    } else if (word.starts_with('-') && word.size() > 1 && word[1] != '-') {
      read_letters(std::string_view(word).substr(1));
    } else {
      errors_.push_back(
          fmt::format("docker argument {} is not an option; image and command have their own place",
                      in_quotes(word)));
    }
  }

  void read_long(const std::string& word) {
    const size_t equal = word.find('=');
    const std::string name = word.substr(0, equal);
    const Option* option = find_long(name);
    if (option == nullptr) {
      // Its value, if it stands apart, is no error of its own.
      if (equal == word.npos && next_ < words_.size() && !words_[next_].starts_with('-')) ++next_;
      errors_.push_back(fmt::format("docker argument {} is not known here; {}", in_quotes(name),
                                    suggestion(name)));
    } else if (equal != word.npos) {
      take(*option, name, word.substr(equal + 1));
    } else {
      take_next(*option, name);
    }
  }

  /// "it", "v=x", "vx", "itv" and its value in the next word.
  void read_letters(std::string_view letters) {
    while (!letters.empty()) {
      const std::string name = {'-', letters.front()};
      const Option* option = find_letter(letters.front());
      letters.remove_prefix(1);
      if (option == nullptr) {
        errors_.push_back(fmt::format(
            "docker argument {} is not known here; of one letter are -v, -e, -u, -w and -h",
            in_quotes(name)));
        return;
      }
      if (letters.empty() || (!option->has_value && letters.front() != '=')) {
        take_next(*option, name);
        continue;
      }
      if (letters.front() == '=') letters.remove_prefix(1);
      take(*option, name, std::string(letters));
      return;
    }
  }

  void take_next(const Option& option, const std::string& name) {
    if (!option.has_value) {
      take(option, name, "true");
    } else if (next_ < words_.size()) {
      take(option, name, words_[next_++]);
    } else {
      errors_.push_back(fmt::format("docker argument {} has no value behind it", name));
    }
  }

  void take(const Option& option, const std::string& name, const std::string& value) {
    const auto taken = try_take(option, value);
    if (taken) return;
    // The value of a variable may be a secret.
    const bool shown = option.take != set_env && !value.empty();
    errors_.push_back(fmt::format("docker argument {}{}{}: {}", name, shown ? " " : "",
                                  shown ? in_quotes(value) : "", taken.error().message));
  }

  Result<void> try_take(const Option& option, const std::string& value) {
    const bool is_env = option.take == set_env;
    if (value.find('\0') != value.npos || (!is_env && has_control_characters(value)))
      return bad_input("has control characters in it");
    if (!option.has_value && value != "true" && value != "false")
      return bad_input("must be true or false");
    if (option.take != nullptr) return option.take(args_, value);
    args_.ignored.emplace_back(option.name);
    return {};
  }

  const std::vector<std::string>& words_;
  size_t next_ = 0;
  DockerArgs args_;
  std::vector<std::string> errors_;
};

}  // namespace

Result<DockerArgs> parse_docker_args(const std::vector<std::string>& words) {
  return ArgsReader(words).read();
}

Result<void> check_docker_args(const std::vector<std::string>& words) {
  ASSAY_CHECK(parse_docker_args(words));
  return {};
}

}  // namespace assay::launch
