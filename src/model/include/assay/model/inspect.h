// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include <assay/model/trace.h>

namespace assay::model {

/// Numbers are doubles where hostile sizes could overflow; they are whole, and exact up to 2^53.
struct Cost {
  double macs = 0;
  double flops = 0;  ///< two for each MAC, and those of operators without MACs
  double bytes_read = 0;
  double bytes_written = 0;
  double parameters = 0;  ///< each weight at the first operator that uses it

  Cost& operator+=(const Cost& other);
};

struct OperatorCost {
  std::string name;
  std::string type;
  double times = 1;
  Cost cost;
  Known output;
};

/// What existing callers know a model by.
struct Counts {
  uint64_t conv_layers = 0;
  uint64_t pool_layers = 0;
  uint64_t fc_layers = 0;
  double filter_details = 0;
  double total_parameters = 0;
  double trainable_parameters = 0;
  double model_input_size = 0;
  double model_output_size = 0;
};

struct Inspection {
  std::string file;
  uint64_t file_bytes = 0;
  int64_t ir_version = 0;
  std::string producer;
  std::map<std::string, int64_t> opsets;
  Counts counts;
  Cost total;
  double weight_bytes = 0;
  double peak_activation_bytes = 0;
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  std::vector<OperatorCost> operators;  ///< in the order of execution, without folded ones
  std::map<std::string, uint64_t> operator_types;  ///< nodes of each type, in all graphs
  std::map<std::string, size_t> unknown_operators;
  std::vector<std::string> unknown_shapes;  ///< operators whose sizes depend on data
  std::set<std::string> unbound_dims;
  std::set<std::string> external_files;
  std::vector<std::string> assumptions;
};

/// Costs and counts of a traced model; one for each step, and 0 for what is folded.
std::vector<Cost> costs(const Trace& trace);
Counts counts(const Trace& trace);
double peak_activation_bytes(const Trace& trace);

/// Refuses sizes for dimensions that the model's inputs do not have.
Result<void> check_dims(const Trace& trace, const TraceOptions& options);

/// Reads the file, binds symbolic dimensions and puts everything together.
Result<Inspection> inspect(const std::filesystem::path& file, const TraceOptions& options);
Inspection inspect(const Model& model, const Trace& trace);

/// For people: the answer first, then the dearest operators, what was assumed and what is unknown.
std::string inspection_text(const Inspection& inspection, bool color, size_t columns);
nlohmann::json inspection_document(const Inspection& inspection);

}  // namespace assay::model
