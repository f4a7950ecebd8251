// SPDX-License-Identifier: Apache-2.0
#include "opencv/opencv_engine.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fstream>
#include <opencv2/core.hpp>
#include <opencv2/dnn.hpp>
#include <random>

namespace assay::infer {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int64_t kMostValues = int64_t{1} << 30;

double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

/// In one sentence, without OpenCV's file and line.
std::string short_text(const cv::Exception& error) {
  return error.err.empty() ? error.what() : fmt::format("{} ({})", error.err, error.func);
}

Result<cv::Mat> make_input(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  std::vector<int> sizes;
  for (const int64_t size : shape) {
    if (size <= 0 || size > kMostValues || count > kMostValues / size)
      return bad_input("the shape of an input is not one that fits into memory");
    count *= size;
    sizes.push_back(static_cast<int>(size));
  }
  return cv::Mat(sizes, CV_32F, cv::Scalar(0));
}

void fill_random(cv::Mat& values, std::mt19937& random) {
  auto* const begin = values.ptr<float>();
  const float scale = 1.0F / 4294967296.0F;
  for (size_t i = 0; i < values.total(); ++i) begin[i] = static_cast<float>(random()) * scale;
}

Result<void> fill_from(cv::Mat& values, const std::filesystem::path& file) {
  std::ifstream bytes(file, std::ios::binary);
  const auto size = static_cast<std::streamsize>(values.total() * sizeof(float));
  bytes.read(reinterpret_cast<char*>(values.ptr<float>()), size);
  if (bytes.gcount() != size)
    return bad_input(fmt::format("{} has fewer than {} values", file.native(), values.total()));
  return {};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

struct OpencvEngine::State {
  cv::dnn::Net net;
  std::vector<std::string> names;
  std::vector<cv::Mat> inputs;
  std::vector<std::string> outputs;

  Result<void> fill(const RunRequest& request) {
    std::mt19937 random(static_cast<uint32_t>(request.seed));
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (i == 0 && !request.input.empty()) {
        ASSAY_CHECK(fill_from(inputs[i], request.input));
      } else {
        fill_random(inputs[i], random);
      }
    }
    return {};
  }

  std::vector<cv::Mat> forward() {
    for (size_t i = 0; i < inputs.size(); ++i) net.setInput(inputs[i], names[i]);
    std::vector<cv::Mat> results;
    net.forward(results, outputs);
    return results;
  }
};

OpencvEngine::OpencvEngine() = default;
OpencvEngine::~OpencvEngine() = default;

std::string OpencvEngine::version() {
  return CV_VERSION;
}

Result<Loaded> OpencvEngine::load(const LoadRequest& request) try {
  state_.reset();
  if (request.gpu)
    return refused("OpenCV's dnn computes on the CPU alone; onnxruntime can use a GPU");
  auto state = std::make_unique<State>();
  Loaded loaded;
  for (const auto& [name, shape] : request.shapes) {
    ASSAY_TRY(cv::Mat input, make_input(shape));
    state->names.push_back(name);
    state->inputs.push_back(std::move(input));
    loaded.inputs.push_back({.name = name, .type = "float32", .shape = shape});
  }
  if (loaded.inputs.empty()) return bad_input("the shapes of its inputs have to be given");
  if (request.threads > 0) cv::setNumThreads(request.threads);
  const auto begin = SteadyClock::now();
  state->net = cv::dnn::readNetFromONNX(request.file.native());
  state->net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
  state->net.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
  loaded.seconds = seconds_since(begin);
  state->outputs = state->net.getUnconnectedOutLayersNames();
  for (const auto& name : state->outputs) loaded.outputs.push_back({.name = name});
  state_ = std::move(state);
  return loaded;
} catch (const cv::Exception& error) {
  return refused(short_text(error));
}

Result<std::vector<double>> OpencvEngine::run(const RunRequest& request) try {
  if (!state_) return bad_input("nothing is loaded");
  ASSAY_CHECK(state_->fill(request));
  std::vector<double> times;
  std::vector<cv::Mat> results;
  const auto first = SteadyClock::now();
  do {
    const auto begin = SteadyClock::now();
    results = state_->forward();
    times.push_back(seconds_since(begin));
  } while (static_cast<int>(times.size()) < request.count &&
           seconds_since(first) < request.seconds);
  if (!request.output.empty()) {
    std::ofstream file(request.output, std::ios::binary);
    for (const auto& result : results)
      file.write(reinterpret_cast<const char*>(result.ptr<float>()),
                 static_cast<std::streamsize>(result.total() * sizeof(float)));
    if (!file.flush()) return refused("cannot write " + request.output.native());
  }
  return times;
} catch (const cv::Exception& error) {
  return refused(short_text(error));
}

Result<EngineProfile> OpencvEngine::profile(const RunRequest& request) try {
  if (!state_) return bad_input("nothing is loaded");
  ASSAY_CHECK(state_->fill(request));
  const std::vector<std::string> names = state_->net.getLayerNames();
  std::vector<std::vector<double>> times(names.size());
  std::vector<double> whole;
  const auto first = SteadyClock::now();
  for (int i = 0; i == 0 || (i < request.count && seconds_since(first) < request.seconds); ++i) {
    const auto begin = SteadyClock::now();
    state_->forward();
    whole.push_back(seconds_since(begin));
    std::vector<double> ticks;  // of layers by their numbers, from 1 on
    state_->net.getPerfProfile(ticks);
    for (size_t layer = 0; layer < names.size(); ++layer) {
      const auto number = static_cast<size_t>(state_->net.getLayerId(names[layer]));
      const double took = number >= 1 && number <= ticks.size() ? ticks[number - 1] : 0;
      times[layer].push_back(took / cv::getTickFrequency());
    }
  }
  EngineProfile found{.seconds = median(std::move(whole))};
  for (size_t layer = 0; layer < names.size(); ++layer) {
    // "onnx_node!NAME", and "onnx_node_output_0!NAME" where the node has none.
    const std::string& name = names[layer];
    found.operators.push_back({name.substr(name.find('!') + 1), median(std::move(times[layer]))});
  }
  return found;
} catch (const cv::Exception& error) {
  return refused(short_text(error));
}

}  // namespace assay::infer
