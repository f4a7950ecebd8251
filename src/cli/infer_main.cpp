// SPDX-License-Identifier: Apache-2.0
// Runs ONNX models by OpenCV for whoever speaks its lines, or over HTTP; all it does is in the room
// `infer`.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <assay/infer/serve_engine.h>

#ifndef ASSAY_VERSION
#define ASSAY_VERSION "0"
#endif

namespace {

using namespace assay;

constexpr int kDone = 0;
constexpr int kBadInput = 2;
constexpr int kRefused = 4;
constexpr const char* kHelp =
    R"(assay-infer runs ONNX models by OpenCV. It is told what to do by lines of JSON on its
input; docs/engines.md has them.

  assay-infer --listen [ADDRESS] [--model FILE]

serves one model over HTTP instead, as docs/placement.md says. ADDRESS is :7010 unless ASSAY_PORT
names another port; the model is that of ASSAY_MODEL or ASSAY_MODEL_URL, the shapes of its inputs
are in ASSAY_SHAPES.)";

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<infer::WorkerSettings> settings_of(const std::vector<std::string>& words) {
  ASSAY_TRY(auto settings, infer::worker_settings(variable));
  for (size_t i = 1; i < words.size(); ++i) {
    if (i == 1 && !words[i].starts_with("--")) {
      settings.listen = words[i];
    } else if (words[i] == "--model" && i + 1 < words.size()) {
      settings.load.file = words[++i];
    } else {
      return bad_input("see assay-infer --help");
    }
  }
  return settings;
}

int serve_model(const std::vector<std::string>& words) {
  const auto tell = [](const std::string& sentence) {
    std::fprintf(stderr, "assay-infer: %s\n", sentence.c_str());
  };
  const auto settings = settings_of(words);
  const Result<void> served = settings
                                  ? infer::serve_worker(infer::opencv_worker(), *settings, tell)
                                  : fail(settings.error());
  if (served) return kDone;
  tell(served.error().message);
  return served.error().kind == ErrorKind::input ? kBadInput : kRefused;
}

int run(const std::vector<std::string>& words) {
  if (words.empty()) return infer::serve_opencv();
  if (words[0] == "--listen") return serve_model(words);
  if (words[0] == "--version") {
    std::puts("assay-infer " ASSAY_VERSION);
    return kDone;
  }
  std::puts(kHelp);
  return words[0] == "--help" || words[0] == "-h" ? kDone : kBadInput;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "assay-infer: unexpected: %s; please report this\n", e.what());
    return kRefused;
  }
}
