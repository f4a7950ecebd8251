// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include <assay/cluster/trial_manifest.h>

namespace assay::cluster {
namespace {

using Json = nlohmann::json;

/// What launchers of several processes call their number.
constexpr std::array<std::string_view, 9> kOptions = {
    "-np",      "--np",       "--nproc_per_node", "--nproc-per-node",
    "--nnodes", "--num_gpus", "--num_processes",  "--num-processes",
    "--ntasks"};
/// Of these also -n is one, up to the program that they start.
constexpr std::array<std::string_view, 3> kLaunchers = {"mpirun", "mpiexec", "srun"};

template <typename List>
bool has(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// In one command, by its words; a shell's text is words too.
std::string fixed_in(const std::vector<std::string>& words) {
  bool launched = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const bool of_launcher = word.starts_with('-') || (i > 0 && words[i - 1].starts_with('-'));
    launched = has(kLaunchers, word.substr(word.rfind('/') + 1)) || (launched && of_launcher);
    const size_t equals = word.find('=');
    const std::string_view option = word.substr(0, equals);
    if (!has(kOptions, option) && !(launched && option == "-n")) continue;
    if (equals != word.npos && is_number(word.substr(equals + 1))) return words[i];
    if (equals == word.npos && i + 1 < words.size() && is_number(words[i + 1]))
      return words[i] + " " + words[i + 1];
  }
  return "";
}

std::vector<std::string> words_of(const Json& container) {
  std::vector<std::string> words;
  for (const char* part : {"command", "args"}) {
    const auto found = container.find(part);
    if (found == container.end() || !found->is_array()) continue;
    for (const auto& text : *found) {
      if (!text.is_string()) continue;
      std::istringstream line(text.get_ref<const std::string&>());
      words.insert(words.end(), std::istream_iterator<std::string>(line), {});
    }
  }
  return words;
}

/// Of all containers, wherever a kind has its templates.
std::string fixed_below(const Json& part) {
  if (!part.is_structured()) return "";
  if (part.is_object()) {
    if (std::string found = fixed_in(words_of(part)); !found.empty()) return found;
  }
  for (const auto& one : part)
    if (std::string found = fixed_below(one); !found.empty()) return found;
  return "";
}

}  // namespace

std::string fixed_processes(const TrialSource& source) {
  const Json object = Json::parse(source.json, nullptr, false);
  const auto spec = object.is_object() ? object.find("spec") : object.end();
  return spec == object.end() ? "" : fixed_below(*spec);
}

}  // namespace assay::cluster
