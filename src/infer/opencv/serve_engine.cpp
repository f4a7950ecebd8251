// SPDX-License-Identifier: Apache-2.0
#include "opencv/opencv_engine.h"

#include <cstdio>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/infer/serve_engine.h>

namespace assay::infer {
namespace {

using nlohmann::json;

json as_json(const std::vector<Tensor>& tensors) {
  json list = json::array();
  for (const auto& tensor : tensors)
    list.push_back({{"name", tensor.name}, {"type", tensor.type}, {"shape", tensor.shape}});
  return list;
}

json error_of(const Error& error) {
  return {{"error", error.message}};
}

json load(OpencvEngine& engine, const json& request) {
  LoadRequest wanted{.file = request.at("file").get<std::string>(),
                     .threads = request.value("threads", 0),
                     .gpu = request.value("gpu", false)};
  if (request.contains("shapes")) request.at("shapes").get_to(wanted.shapes);
  const auto loaded = engine.load(wanted);
  if (!loaded) return error_of(loaded.error());
  return {{"seconds", loaded->seconds},
          {"inputs", as_json(loaded->inputs)},
          {"outputs", as_json(loaded->outputs)}};
}

RunRequest wanted_of(const json& request) {
  return {.count = request.at("count"),
          .seconds = request.at("seconds"),
          .seed = request.value("seed", uint64_t{1}),
          .input = request.value("input", std::string()),
          .output = request.value("output", std::string())};
}

json run(OpencvEngine& engine, const json& request) {
  const auto times = engine.run(wanted_of(request));
  if (!times) return error_of(times.error());
  return {{"times", *times}};
}

json profile(OpencvEngine& engine, const json& request) {
  const auto profile = engine.profile(wanted_of(request));
  if (!profile) return error_of(profile.error());
  json list = json::array();
  for (const auto& one : profile->operators)
    list.push_back({{"name", one.name}, {"seconds", one.seconds}});
  return {{"operators", list}, {"times", {profile->seconds}}};
}

json answer(OpencvEngine& engine, const std::string& line) try {
  const json request = json::parse(line);
  const std::string& what = request.at("do").get_ref<const std::string&>();
  if (what == "load") return load(engine, request);
  if (what == "run") return run(engine, request);
  if (what == "profile") return profile(engine, request);
  return {{"error", fmt::format("\"{}\" is not known", what)}};
} catch (const json::exception& error) {
  return {{"error", error.what()}};
}

}  // namespace

WorkerEngine opencv_worker() {
  const auto engine = std::make_shared<OpencvEngine>();
  return {.name = "opencv",
          .version = OpencvEngine::version(),
          .load = [engine](const LoadRequest& request) { return engine->load(request); },
          .run = [engine](const RunRequest& request) { return engine->run(request); }};
}

int serve_opencv() {
  // Whatever the library prints goes elsewhere: the output is for answers alone.
  const Fd answers(::dup(STDOUT_FILENO));
  if (!answers.valid() || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 4;
  OpencvEngine engine;
  json said = {{"engine", "opencv"}, {"version", OpencvEngine::version()}};
  std::string line;
  while (
      write_all(answers.get(), said.dump(-1, ' ', false, json::error_handler_t::replace) + "\n") &&
      std::getline(std::cin, line))
    said = answer(engine, line);
  return 0;
}

}  // namespace assay::infer
