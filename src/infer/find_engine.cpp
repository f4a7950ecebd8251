// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

#include <assay/base/files.h>
#include <assay/base/text.h>
#include <assay/infer/find_engine.h>

namespace assay::infer {
namespace fs = std::filesystem;
namespace {

fs::path own_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

bool is_in_own_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  return is_in_path(program, path != nullptr ? path : "");
}

Result<std::vector<std::string>> opencv_command() {
  const fs::path beside = own_folder() / "assay-infer";
  if (is_executable(beside)) return std::vector<std::string>{beside.native()};
  if (is_in_own_path("assay-infer")) return std::vector<std::string>{"assay-infer"};
  return refused("the engine opencv needs assay-infer, which is not beside assay");
}

Result<fs::path> runner(const std::string& name) {
  const char* set = std::getenv("ASSAY_RUNNERS");
  std::vector<fs::path> places;
  if (set != nullptr) places.emplace_back(set);
  places.push_back(own_folder() / "../share/assay/runners");
  places.push_back(own_folder() / "../../../runners");
  for (const auto& place : places) {
    std::error_code error;
    if (fs::exists(place / name, error)) return fs::weakly_canonical(place / name, error);
  }
  return refused(fmt::format("{} is not there; name its folder in ASSAY_RUNNERS", name));
}

Result<std::vector<std::string>> script_command(const std::string& engine,
                                                const std::string& program,
                                                const std::string& script) {
  if (!is_in_own_path(program))
    return refused(fmt::format("the engine {} needs {}, which is not installed", engine, program));
  ASSAY_TRY(const fs::path file, runner(script));
  return std::vector<std::string>{program, file.native()};
}

}  // namespace

Result<std::vector<std::string>> engine_command(const std::string& engine) {
  if (engine == "opencv") return opencv_command();
  if (engine == "onnxruntime-node") return script_command(engine, "node", "onnxruntime_node.mjs");
  if (engine == "onnxruntime") return script_command(engine, "python3", "onnxruntime_python.py");
  ASSAY_TRY(auto words, split_words(engine));
  if (words.empty()) return bad_input("an engine's command line is empty");
  const bool is_path = words.front().find('/') != std::string::npos;
  if (is_path ? is_executable(words.front()) : is_in_own_path(words.front())) return words;
  return bad_input(fmt::format("there is no engine and no program '{}'; Assay knows {}, {} and {}",
                               words.front(), kEngines[0], kEngines[1], kEngines[2]));
}

}  // namespace assay::infer
