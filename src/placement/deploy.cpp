// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <random>

#include <assay/placement/deploy.h>

namespace assay::placement {
namespace {

using nlohmann::json;
using SteadyClock = std::chrono::steady_clock;

constexpr int kLookAgain = 100;  // milliseconds
constexpr Milliseconds kRunPatience{150'000};
constexpr size_t kMostTimes = 10'000;
/// As in `assay collect`: as many inferences as a second has, but a few however long they take.
constexpr const char* kWarmUp = R"({"count": 3, "seconds": 0.3})";
constexpr const char* kMeasure = R"({"count": 300, "seconds": 1})";
constexpr size_t kFewest = 5;
constexpr size_t kLongestName = 40;
constexpr double kMemoryRoom = 512e6;
constexpr double kMemoryTimes = 4;

std::string text_of(const json& document, const char* key) {
  const auto found = document.find(key);
  return found != document.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Lower-case letters, digits and single hyphens.
std::string plain_name(const std::string& text) {
  std::string name;
  for (const char c : text.substr(0, kLongestName)) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool plain = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (plain)
      name += lower;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name.empty() ? "model" : name;
}

Result<void> wait_until_it_serves(WorkerHost& host, const DeployListener& listener) {
  const auto end = SteadyClock::now() + listener.patience;
  std::string trouble;
  while (listener.wanted()) {
    const auto serves = host.serves();
    if (!serves && !serves.error().temporary) return fail(serves.error());
    if (serves && *serves) return {};
    trouble = serves ? "" : ": " + serves.error().message;
    if (SteadyClock::now() >= end)
      return refused(
          fmt::format("it does not serve after {}{}", format_duration(listener.patience), trouble));
    ::poll(nullptr, 0, kLookAgain);
  }
  return refused("interrupted");
}

Result<WorkerTimes> ask(WorkerHost& host, const std::string& body, const DeployListener& listener) {
  if (!listener.wanted()) return refused("interrupted");
  ASSAY_TRY(const std::string answer, host.run(body, kRunPatience));
  return parse_worker_times(answer);
}

Result<Deployed> measure(WorkerHost& host, const DeployListener& listener) {
  const SystemClock clock;
  ASSAY_CHECK(ask(host, kWarmUp, listener));
  Deployed deployed{.times = {}, .start = clock.now(), .end = {}};
  ASSAY_TRY(deployed.times, ask(host, kMeasure, listener));
  auto& seconds = deployed.times.seconds;
  if (seconds.size() < kFewest) {
    const json more = {{"count", kFewest - seconds.size()}, {"seconds", 60}};
    ASSAY_TRY(const WorkerTimes others, ask(host, more.dump(), listener));
    seconds.insert(seconds.end(), others.seconds.begin(), others.seconds.end());
  }
  deployed.end = clock.now();
  std::sort(seconds.begin(), seconds.end());
  return deployed;
}

Result<Deployed> wait_and_measure(WorkerHost& host, const DeployListener& listener) {
  listener.doing("waiting until it serves");
  ASSAY_CHECK(wait_until_it_serves(host, listener));
  listener.doing("measuring");
  return measure(host, listener);
}

}  // namespace

std::string worker_name(const std::string& model) {
  std::random_device random;
  return fmt::format("assay-{}-{:06x}", plain_name(model), random() & 0xffffffU);
}

WorkerPlan worker_plan(const std::string& name, const std::filesystem::path& file,
                       const model::Characteristics& model, int threads) {
  WorkerPlan plan;
  plan.file = file;
  plan.model = name;
  plan.name = worker_name(plan.model);
  json shapes = json::object();
  for (const auto& input : model.inputs) {
    json& shape = shapes[input.name] = json::array();
    // What the file leaves open is as it was taken for the prediction; what nobody can tell is 1.
    for (const int64_t size : input.known.dims.value_or(model::Dims()))
      shape.push_back(std::max<int64_t>(size, 1));
  }
  plan.env = {{"ASSAY_PORT", std::to_string(kWorkerPort)},
              {"ASSAY_SHAPES", shapes.dump(-1, ' ', true, json::error_handler_t::replace)}};
  if (threads > 0) plan.env["ASSAY_THREADS"] = std::to_string(threads);
  return plan;
}

uint64_t memory_limit(const WorkerPlan& plan) {
  if (!(plan.memory_bytes > 0)) return 0;
  return static_cast<uint64_t>(kMemoryRoom + kMemoryTimes * plan.memory_bytes);
}

Result<WorkerTimes> parse_worker_times(std::string_view answer) {
  const json document = json::parse(answer, nullptr, false);
  if (!document.is_object()) return refused("the worker's answer is no JSON");
  if (const std::string error = text_of(document, "error"); !error.empty())
    return refused("the worker says: " + error);
  WorkerTimes times{.engine = text_of(document, "engine"),
                    .version = text_of(document, "version"),
                    .seconds = {}};
  const auto list = document.find("times");
  if (list == document.end() || !list->is_array() || list->empty() || list->size() > kMostTimes)
    return refused("the worker's answer has no times");
  for (const auto& one : *list) {
    const double seconds = one.is_number() ? one.get<double>() : 0;
    if (!(seconds > 0) || !std::isfinite(seconds))
      return refused("the worker's times are no numbers above 0");
    times.seconds.push_back(seconds);
  }
  return times;
}

double Deployed::median() const {
  const auto& all = times.seconds;
  if (all.empty()) return 0;
  const size_t half = all.size() / 2;
  return all.size() % 2 == 1 ? all[half] : (all[half - 1] + all[half]) / 2;
}

Result<Deployed> deploy(WorkerHost& host, const WorkerPlan& plan, const DeployListener& listener) {
  listener.doing(fmt::format("starting {} on {}", plan.name, plan.node));
  ASSAY_CHECK(host.start(plan));
  auto deployed = wait_and_measure(host, listener);
  if (deployed) return deployed;
  Error error = deployed.error();
  error.message = fmt::format("{} on {}: {}", plan.name, plan.node, error.message);
  if (const auto ended = host.end(); !ended)
    error.message += fmt::format("; it could not be ended: {}", ended.error().message);
  else
    error.message += "; it was ended again";
  return fail(std::move(error));
}

}  // namespace assay::placement
