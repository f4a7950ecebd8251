// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <assay/model/inspect.h>

namespace assay::model {

/// A tensor of the main graph that alone leads from what is before to what is behind it. Weights
/// and what follows from them do not count as crossing: each side gets its own.
struct CutPoint {
  std::string tensor;
  Known known;
  double bytes = 0;
  Cost before;
  Cost behind;
};

/// All of them, in the order of execution.
std::vector<CutPoint> cut_points(const Trace& trace);

/// The list for people and for programs.
std::string cuts_text(const std::vector<CutPoint>& cuts, bool color, size_t columns);
nlohmann::json cuts_document(const std::vector<CutPoint>& cuts);

struct SplitParts {
  std::filesystem::path first;
  std::filesystem::path second;
};

/// Writes the model's two parts into `folder` as STEM-1.onnx and STEM-2.onnx. The second takes the
/// tensor as its input. Weights are copied from file to file; files with external data are copied
/// beside the parts where `folder` is not the model's own.
Result<SplitParts> split(const std::filesystem::path& file, const std::string& tensor,
                         const std::filesystem::path& folder, const TraceOptions& options);

}  // namespace assay::model
