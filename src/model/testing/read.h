// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <stdexcept>
#include <string>

#include <assay/model/inspect.h>
#include <gtest/gtest.h>

namespace assay::model::testing {

/// A written model with its trace; keeps the bytes that they point into.
struct Read {
  std::string bytes;
  Model model;
  Trace traced;

  explicit Read(std::string data, const TraceOptions& options = {}) : bytes(std::move(data)) {
    auto scanned = scan(bytes, "test.onnx");
    if (!scanned) throw std::runtime_error(scanned.error().message);
    model = std::move(*scanned);
    auto found = trace(model, options);
    if (!found) throw std::runtime_error(found.error().message);
    traced = std::move(*found);
  }

  const Value& value(std::string_view name) const {
    for (const auto& one : traced.values) {
      if (one.name == name) return one;
    }
    throw std::runtime_error("no value " + std::string(name));
  }
  Dims dims(std::string_view name) const { return value(name).known.dims.value_or(Dims{-99}); }
  Inspection inspected() const { return inspect(model, traced); }
};

}  // namespace assay::model::testing
