// SPDX-License-Identifier: Apache-2.0
#include "engine_process.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/infer/engine.h>

namespace assay::infer {
namespace {

using nlohmann::json;

constexpr Milliseconds kStart{60'000};
constexpr Milliseconds kLoad{300'000};

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<Tensor> tensors_at(const json& object, const char* key) {
  std::vector<Tensor> tensors;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return tensors;
  for (const auto& each : *found) {
    if (!each.is_object()) continue;
    Tensor tensor{.name = text_at(each, "name"), .type = text_at(each, "type")};
    for (const auto& size : each.value("shape", json::array()))
      tensor.shape.push_back(size.is_number_integer() ? size.get<int64_t>() : -1);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<double> times_at(const json& answer) {
  std::vector<double> times;
  const auto found = answer.find("times");
  if (found != answer.end() && found->is_array())
    for (const auto& time : *found)
      if (time.is_number() && time > 0) times.push_back(time);
  return times;
}

json asked(const char* what, const RunRequest& request) {
  json ask = {
      {"do", what}, {"count", request.count}, {"seconds", request.seconds}, {"seed", request.seed}};
  if (!request.input.empty()) ask["input"] = request.input.native();
  if (!request.output.empty()) ask["output"] = request.output.native();
  return ask;
}

Milliseconds patience_of(const RunRequest& request) {
  return Milliseconds(static_cast<int64_t>((request.seconds + request.patience) * 1000));
}

}  // namespace

class Engine::Process {
 public:
  explicit Process(LineProcess lines) : lines_(std::move(lines)) {}
  pid_t pid() const { return lines_.pid(); }
  void while_wanted(std::function<bool()> wanted) { lines_.while_wanted(std::move(wanted)); }

  /// The next line as JSON; what the engine calls an error is one.
  Result<json> answer(Milliseconds patience) {
    ASSAY_TRY(const std::string line, lines_.read(patience));
    json answer = json::parse(line, nullptr, false);
    if (!answer.is_object())
      return refused(fmt::format("the engine answers {} instead of JSON", line.substr(0, 80)));
    if (answer.contains("error")) return refused(text_at(answer, "error").substr(0, 1000));
    return answer;
  }
  Result<json> ask(const json& request, Milliseconds patience) {
    ASSAY_CHECK(lines_.write(request.dump(-1, ' ', false, json::error_handler_t::replace)));
    return answer(patience);
  }

 private:
  LineProcess lines_;
};

Engine::Engine(std::unique_ptr<Process> process) : process_(std::move(process)) {}
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;
Engine::~Engine() = default;

const std::string& Engine::name() const {
  return name_;
}
const std::string& Engine::version() const {
  return version_;
}
pid_t Engine::pid() const {
  return process_->pid();
}
void Engine::while_wanted(std::function<bool()> wanted) {
  process_->while_wanted(std::move(wanted));
}

Result<Engine> Engine::start(const std::vector<std::string>& command) {
  ASSAY_TRY(LineProcess lines, LineProcess::start(command));
  Engine engine(std::make_unique<Process>(std::move(lines)));
  ASSAY_TRY(const json hello, engine.process_->answer(kStart));
  engine.name_ = text_at(hello, "engine");
  engine.version_ = text_at(hello, "version");
  if (engine.name_.empty())
    return refused(command.front() + " is no engine: it does not say its name");
  return engine;
}

Result<Loaded> Engine::load(const LoadRequest& request) {
  json ask = {{"do", "load"}, {"file", request.file.native()}, {"shapes", request.shapes}};
  if (request.threads > 0) ask["threads"] = request.threads;
  if (request.gpu) ask["gpu"] = true;
  ASSAY_TRY(const json answer, process_->ask(ask, kLoad));
  // One that does not know the word would compute elsewhere.
  if (request.gpu && answer.value("gpu", json()) != json(true))
    return refused("the engine does not say that it computes on the GPU");
  Loaded loaded{.inputs = tensors_at(answer, "inputs"), .outputs = tensors_at(answer, "outputs")};
  const auto seconds = answer.find("seconds");
  if (seconds != answer.end() && seconds->is_number()) loaded.seconds = *seconds;
  return loaded;
}

Result<std::vector<double>> Engine::run(const RunRequest& request) {
  ASSAY_TRY(const json answer, process_->ask(asked("run", request), patience_of(request)));
  std::vector<double> times = times_at(answer);
  if (times.empty()) return refused("the engine gave no times");
  return times;
}

Result<EngineProfile> Engine::profile(const RunRequest& request) {
  ASSAY_TRY(const json answer, process_->ask(asked("profile", request), patience_of(request)));
  std::vector<double> times = times_at(answer);
  const auto found = answer.find("operators");
  if (times.empty() || found == answer.end() || !found->is_array())
    return refused("the engine gave no times of operators");
  std::sort(times.begin(), times.end());
  EngineProfile profile{.seconds = times[times.size() / 2]};
  for (const auto& one : *found) {
    const auto seconds = one.is_object() ? one.find("seconds") : one.end();
    if (seconds != one.end() && seconds->is_number() && *seconds >= 0)
      profile.operators.push_back({text_at(one, "name"), *seconds});
  }
  return profile;
}

}  // namespace assay::infer
