// SPDX-License-Identifier: Apache-2.0
// How long a model file takes to tell one model's times on all its tasks, as JSON:
//   tell_speed MODEL [COUNT]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <assay/predict/predictor.h>

namespace {

using namespace assay;

model::Characteristics asked(size_t number) {
  model::Characteristics model;
  model.precision = "float32";
  model.workload.macs_conv3x3 = 1e7 * static_cast<double>(1 + number % 100);
  model.workload.bytes_conv = model.workload.macs_conv3x3 / 10;
  model.workload.activation_bytes = model.workload.bytes_conv / 2;
  model.workload.weight_bytes = model.workload.bytes_conv / 3;
  model.workload.operators = static_cast<double>(20 + number % 50);
  model.counts.conv_layers = 1 + number % 50;
  model.counts.total_parameters = model.workload.weight_bytes / 4;
  return model;
}

template <typename Ask>
void measure(const char* what, const predict::Predictor& predictor, size_t count, Ask ask) {
  std::vector<double> micros;
  double sum = 0;
  std::vector<predict::Asked> asked_for(predictor.tasks().size());
  for (size_t i = 0; i < count; ++i) {
    for (size_t task = 0; task < asked_for.size(); ++task)
      asked_for[task] = {task, static_cast<double>((i * 7 + task * 13) % 100) / 100};
    const auto model = asked(i);
    const auto start = std::chrono::steady_clock::now();
    for (const auto& one : ask(model, asked_for)) sum += one.seconds;
    const auto end = std::chrono::steady_clock::now();
    micros.push_back(std::chrono::duration<double, std::micro>(end - start).count());
  }
  std::sort(micros.begin(), micros.end());
  std::printf(
      "{\"what\": \"%s\", \"tasks\": %zu, \"p50_us\": %.1f, \"p99_us\": %.1f, \"sum\": %g}\n", what,
      predictor.tasks().size(), micros[count / 2], micros[count * 99 / 100], sum);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: tell_speed MODEL [COUNT]\n", stderr);
    return 2;
  }
  const auto predictor = predict::Predictor::read(argv[1]);
  if (!predictor) {
    std::fprintf(stderr, "%s\n", predictor.error().message.c_str());
    return 1;
  }
  const size_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 2000;
  measure("by workload", *predictor, count,
          [&](const auto& model, const auto& all) { return predictor->tell(model, all); });
  measure("by counts", *predictor, count,
          [&](const auto& model, const auto& all) { return predictor->tell(model.counts, all); });
  return 0;
}
