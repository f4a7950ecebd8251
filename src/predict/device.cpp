// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/predict/device.h>

namespace assay::predict {
namespace {

Result<std::string> text_of(const nlohmann::json& document, const char* key,
                            const std::string& where) {
  const auto found = document.find(key);
  if (found == document.end()) return std::string();
  if (!found->is_string()) return bad_input(fmt::format("{}: '{}' must be text", where, key));
  return found->get<std::string>();
}

Result<double> number_of(const nlohmann::json& document, const char* key,
                         const std::string& where) {
  const auto found = document.find(key);
  if (found == document.end()) return 0.0;
  if (!found->is_number() || !(found->get<double>() >= 0))
    return bad_input(fmt::format("{}: '{}' must be a number of at least 0", where, key));
  return found->get<double>();
}

Result<std::map<std::string, double>> figures_of(const nlohmann::json& document,
                                                 const std::string& where) {
  std::map<std::string, double> figures;
  const auto found = document.find("figures");
  if (found == document.end()) return figures;
  if (!found->is_object())
    return bad_input(fmt::format("{}: 'figures' must be an object of numbers", where));
  for (const auto& [name, value] : found->items()) {
    if (!value.is_number() || !(value.get<double>() > 0))
      return bad_input(fmt::format("{}: the figure '{}' must be a number above 0", where, name));
    figures[name] = value.get<double>();
  }
  return figures;
}

}  // namespace

nlohmann::json device_document(const Device& device) {
  nlohmann::json document = {{"name", device.name},      {"uuid", device.uuid},
                             {"class", device.kind},     {"device_model", device.model},
                             {"cores", device.cores},    {"memory_bytes", device.memory_bytes},
                             {"figures", device.figures}};
  if (device.gpus > 0) {
    document["gpu_model"] = device.gpu_model;
    document["gpu_memory_bytes"] = device.gpu_memory_bytes;
    document["gpus"] = device.gpus;
  }
  return document;
}

Result<Device> read_device(const nlohmann::json& document, const std::string& where) {
  if (!document.is_object()) return bad_input(fmt::format("{}: no device", where));
  Device device;
  ASSAY_TRY(device.name, text_of(document, "name", where));
  if (device.name.empty()) return bad_input(fmt::format("{}: a device needs a 'name'", where));
  ASSAY_TRY(device.uuid, text_of(document, "uuid", where));
  ASSAY_TRY(device.kind, text_of(document, "class", where));
  ASSAY_TRY(device.model, text_of(document, "device_model", where));
  ASSAY_TRY(device.cores, number_of(document, "cores", where));
  ASSAY_TRY(device.memory_bytes, number_of(document, "memory_bytes", where));
  ASSAY_TRY(device.figures, figures_of(document, where));
  ASSAY_TRY(device.gpu_model, text_of(document, "gpu_model", where));
  ASSAY_TRY(device.gpu_memory_bytes, number_of(document, "gpu_memory_bytes", where));
  ASSAY_TRY(device.gpus, number_of(document, "gpus", where));
  return device;
}

}  // namespace assay::predict
