// SPDX-License-Identifier: Apache-2.0
// Runs ONNX models by OpenCV for whoever speaks its lines; all it does is in the room `infer`.
#include <cstdio>
#include <exception>
#include <string_view>

#include <assay/infer/serve_engine.h>

#ifndef ASSAY_VERSION
#define ASSAY_VERSION "0"
#endif

int main(int argc, char** argv) {
  const std::string_view option = argc > 1 ? argv[1] : "";
  if (option == "--version") return std::puts("assay-infer " ASSAY_VERSION) < 0 ? 4 : 0;
  if (!option.empty()) {
    std::puts(
        "assay-infer runs ONNX models by OpenCV. It is told what to do by lines of JSON on its "
        "input; docs/engines.md has them.");
    return option == "--help" || option == "-h" ? 0 : 2;
  }
  try {
    return assay::infer::serve_opencv();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "assay-infer: unexpected: %s; please report this\n", e.what());
    return 4;
  }
}
