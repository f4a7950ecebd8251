// SPDX-License-Identifier: Apache-2.0
#include "part_file.h"
#include "sort.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

#include <assay/base/wording.h>
#include <assay/model/split.h>

namespace assay::model {
namespace {

namespace fs = std::filesystem;
using Names = std::unordered_set<std::string_view>;

/// The steps of one side of the cut, with the constants that they or others behind them need.
std::vector<size_t> steps_of(const Trace& trace, size_t begin, size_t end, Names needed) {
  std::vector<bool> wanted(trace.steps.size(), false);
  for (size_t i = trace.steps.size(); i-- > 0;) {
    const Step& step = trace.steps[i];
    if (step.level > 0) continue;
    const bool is_inside = !step.folded && i >= begin && i < end;
    const auto& outputs = step.node->outputs;
    const bool is_needed =
        step.folded && std::any_of(outputs.begin(), outputs.end(),
                                   [&](const auto& name) { return needed.contains(name); });
    if (!is_inside && !is_needed) continue;
    wanted[i] = true;
    for (const auto name : used_names(*step.node)) needed.insert(name);
  }
  std::vector<size_t> list;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) list.push_back(i);
  }
  return list;
}

/// One part's graph, as pieces of the model and a few new bytes.
struct Part {
  std::vector<size_t> steps;
  bool is_first = false;
};

Names initializers_of(const Graph& graph) {
  Names names;
  for (const auto& tensor : graph.initializers) names.insert(tensor.name);
  return names;
}

void add_weights(const Graph& graph, const Names& used, PartFile& file) {
  std::unordered_set<std::string_view> taken;
  for (const auto& tensor : graph.initializers) {
    if (!used.contains(tensor.name)) continue;
    file.add(tensor.sparse ? 15 : 5, tensor.message);
    taken.insert(tensor.name);
  }
  // Up to version 3 of the format a weight is also an input.
  for (const auto& input : graph.inputs) {
    if (taken.contains(input.name)) file.add(11, input.message);
  }
}

void add_ends(const Graph& graph, bool is_first, const std::string& crossing, PartFile& file) {
  if (is_first) {
    const Names stored = initializers_of(graph);
    for (const auto& input : graph.inputs) {
      if (!stored.contains(input.name)) file.add(11, input.message);
    }
    file.add_owned(12, crossing);
  } else {
    file.add_owned(11, crossing);
    for (const auto& output : graph.outputs) file.add(12, output.message);
  }
}

void fill(const Model& model, const Trace& trace, const Part& part, const std::string& crossing,
          PartFile& file) {
  Names used;
  Names made;
  for (const size_t i : part.steps) {
    const Node& node = *trace.steps[i].node;
    file.add(1, node.message);
    for (const auto name : used_names(node)) used.insert(name);
    made.insert(node.outputs.begin(), node.outputs.end());
  }
  if (!part.is_first) {
    for (const auto& output : model.graph.outputs) used.insert(output.name);
  }
  file.add_owned(2, model.graph.name.empty() ? "part" : model.graph.name);
  add_weights(model.graph, used, file);
  add_ends(model.graph, part.is_first, crossing, file);
  for (const auto& info : model.graph.values) {
    if (made.contains(info.name) && !info.message.empty()) file.add(13, info.message);
  }
}

/// What the file says of the tensor, or what we know of it. Sizes that depend on symbolic ones stay
/// open.
Result<std::string> crossing_message(const Model& model, const Trace& trace, const Value& value) {
  for (const auto& info : model.graph.values) {
    if (info.name == value.name && info.is_tensor && info.has_shape)
      return std::string(info.message);
  }
  if (!value.known.dims || value.known.type == kUndefined)
    return bad_input(
        fmt::format("cannot cut at {}: its type or shape is not known", in_quotes(value.name)));
  return value_message(value.name, value.known, !trace.known_dims.empty());
}

Result<size_t> step_of(const Trace& trace, const std::string& tensor) {
  std::vector<std::string> names;
  const auto cuts = cut_points(trace);
  names.reserve(cuts.size());
  for (const auto& cut : cuts) names.push_back(cut.tensor);
  if (std::find(names.begin(), names.end(), tensor) == names.end()) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    const auto near = names.size() > 8 ? std::span(views).first(8) : std::span(views);
    return bad_input(
        fmt::format("cannot cut at {}: it is no tensor that alone crosses the model{}; "
                    "`assay model split FILE --list` has all",
                    in_quotes(tensor), suggestion(tensor, near)));
  }
  for (size_t i = 0; i < trace.steps.size(); ++i) {
    const auto& outputs = trace.steps[i].node->outputs;
    if (trace.steps[i].level == 0 &&
        std::find(outputs.begin(), outputs.end(), tensor) != outputs.end())
      return i;
  }
  return bad_input("cannot cut at " + in_quotes(tensor));
}

/// External data must lie beside a model.
Result<void> bring_external(const Trace& trace, const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::equivalent(from.empty() ? "." : from, to, error)) return {};
  std::set<std::string> files;
  for (const auto& value : trace.values) {
    if (value.tensor != nullptr && value.tensor->place == Place::external)
      files.insert(value.tensor->location);
  }
  for (const auto& name : files) {
    const fs::path relative = fs::path(name).lexically_normal();
    if (relative.empty() || relative.is_absolute() || *relative.begin() == "..")
      return bad_input(
          fmt::format("the model's weights are in {}, outside its folder; they are not copied",
                      in_quotes(name)));
    fs::create_directories((to / relative).parent_path(), error);
    if (!fs::copy_file(from / relative, to / relative, fs::copy_options::overwrite_existing, error))
      return refused(fmt::format("cannot copy the weights {} to {}: {}", in_quotes(name),
                                 to.native(), error.message()));
  }
  return {};
}

const Value& value_of(const Trace& trace, size_t step, const std::string& tensor) {
  const auto& outputs = trace.steps[step].node->outputs;
  const auto at = std::find(outputs.begin(), outputs.end(), tensor) - outputs.begin();
  return trace.values[static_cast<size_t>(trace.steps[step].outputs[static_cast<size_t>(at)])];
}

}  // namespace

Result<SplitParts> split(const fs::path& file, const std::string& tensor, const fs::path& folder,
                         const TraceOptions& options) {
  ASSAY_TRY(const MappedFile mapped, MappedFile::open(file));
  ASSAY_TRY(const Model model, scan(mapped.bytes(), file.native(), &mapped));
  ASSAY_TRY(const Trace traced, trace(model, options));
  ASSAY_CHECK(check_dims(traced, options));
  ASSAY_TRY(const size_t last, step_of(traced, tensor));
  ASSAY_TRY(const std::string crossing,
            crossing_message(model, traced, value_of(traced, last, tensor)));
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return refused(fmt::format("cannot make the folder {}: {}", folder.native(), error.message()));
  ASSAY_CHECK(bring_external(traced, file.parent_path(), folder));
  const std::string stem = file.stem();
  SplitParts parts{folder / (stem + "-1.onnx"), folder / (stem + "-2.onnx")};
  for (const bool is_first : {true, false}) {
    const size_t begin = is_first ? 0 : last + 1;
    const size_t end = is_first ? last + 1 : traced.steps.size();
    PartFile part(mapped);
    Names needed;
    for (const auto& output : model.graph.outputs)
      if (!is_first) needed.insert(output.name);
    fill(model, traced, {steps_of(traced, begin, end, std::move(needed)), is_first}, crossing,
         part);
    ASSAY_CHECK(part.write(is_first ? parts.first : parts.second, model.other_fields));
  }
  return parts;
}

}  // namespace assay::model
