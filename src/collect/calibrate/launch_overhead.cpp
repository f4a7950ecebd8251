// SPDX-License-Identifier: Apache-2.0
#include "calibrate/launch_overhead.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include <assay/infer/engine.h>
#include <assay/infer/find_engine.h>
#include <assay/model/workload.h>
#include <assay/zoo/zoo.h>

namespace assay::collect {
namespace fs = std::filesystem;
namespace {

zoo::Recipe tiny_recipe() {
  zoo::Recipe recipe;
  recipe.family = "squeezenet1.1";
  recipe.width = 0.05;
  recipe.resolution = 32;
  recipe.classes = 10;
  return recipe;
}

}  // namespace

Result<TinyModel> TinyModel::make() {
  std::string name = (fs::temp_directory_path() / "assay-tiny-XXXXXX").native();
  if (::mkdtemp(name.data()) == nullptr)
    return refused_errno("cannot make the folder " + name, errno);
  TinyModel model(name, 0);
  ASSAY_CHECK(zoo::make_model(tiny_recipe(), model.folder_ / "tiny.onnx"));
  ASSAY_TRY(const auto found, model::characteristics(model.folder_ / "tiny.onnx", {}));
  model.operators_ = found.workload.operators;
  return model;
}

TinyModel::TinyModel(TinyModel&& other) noexcept
    : folder_(std::exchange(other.folder_, {})), operators_(other.operators_) {}

TinyModel::~TinyModel() {
  std::error_code error;
  if (!folder_.empty()) fs::remove_all(folder_, error);
}

Result<TinyModel::Timed> TinyModel::time_on(const std::string& engine, int threads,
                                            double seconds) const {
  ASSAY_TRY(const auto command, infer::engine_command(engine));
  ASSAY_TRY(infer::Engine running, infer::Engine::start(command));
  ASSAY_CHECK(running.load(
      {.file = folder_ / "tiny.onnx", .threads = threads, .shapes = {{"image", {1, 3, 32, 32}}}}));
  ASSAY_CHECK(running.run({.count = 50, .seconds = seconds}));
  ASSAY_TRY(const auto times, running.run({.count = 1'000'000, .seconds = seconds}));
  std::vector<double> rates;
  rates.reserve(times.size());
  for (const double time : times) rates.push_back(operators_ / time);
  const Measured rate = typical(rates);
  return Timed{running.name(), {1 / rate.value, rate.spread}};
}

}  // namespace assay::collect
