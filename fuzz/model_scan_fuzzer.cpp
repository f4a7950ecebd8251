// SPDX-License-Identifier: Apache-2.0
// An ONNX file is somebody else's. Whatever its bytes are, a scan ends, keeps within what it was
// given, and what it tells of small tensors fits their shapes.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <assay/model/graph.h>

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

void check_tensor(const assay::model::Tensor& tensor, const std::string& bytes) {
  check(tensor.message.data() >= bytes.data());
  check(tensor.message.data() + tensor.message.size() <= bytes.data() + bytes.size());
  if (tensor.numbers) check(static_cast<double>(tensor.numbers->size()) == tensor.elements());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(data, data + size);
  const auto model = assay::model::scan(bytes, "fuzzed");
  if (!model) {
    check(!model.error().message.empty() && model.error().kind == assay::ErrorKind::input);
    return 0;
  }
  for (const auto& tensor : model->graph.initializers) check_tensor(tensor, bytes);
  return 0;
}
