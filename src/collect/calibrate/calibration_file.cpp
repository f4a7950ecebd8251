// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <system_error>

#include <assay/base/files.h>
#include <assay/collect/calibrate.h>

namespace assay::collect {
namespace fs = std::filesystem;
namespace {

constexpr int kSchema = 1;

bool is_file_name(const std::string& name) {
  constexpr size_t kLongest = 200;
  return !name.empty() && name.size() <= kLongest && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return c > 0x20 && c != '/' && c != '\\' && c != 0x7F;
         });
}

/// Texts by name, those of another kind left away.
template <class Value>
std::map<std::string, Value> values_at(const nlohmann::json& document, const char* key,
                                       bool (nlohmann::json::*fits)() const noexcept) {
  std::map<std::string, Value> values;
  const auto found = document.find(key);
  if (found == document.end() || !found->is_object()) return values;
  for (const auto& [name, value] : found->items())
    if ((value.*fits)()) values[name] = value.template get<Value>();
  return values;
}

}  // namespace

nlohmann::json calibration_document(const Calibration& calibration) {
  return {{"schema", kSchema},
          {"device", predict::device_document(calibration.device)},
          {"measured", format_utc(calibration.measured)},
          {"spread", calibration.spread},
          {"missing", calibration.missing}};
}

std::string calibration_text(const Calibration& calibration) {
  return calibration_document(calibration)
      .dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<Calibration> read_calibration(const nlohmann::json& document, const std::string& where) {
  if (!document.is_object() || !document.contains("device"))
    return bad_input(fmt::format("{}: this is no calibration of a device", where));
  const auto schema = document.find("schema");
  if (schema == document.end() || *schema != kSchema)
    return bad_input(
        fmt::format("{}: another assay wrote this; calibrate the device again", where));
  Calibration calibration;
  ASSAY_TRY(calibration.device, predict::read_device(document.at("device"), where));
  const auto measured = document.find("measured");
  if (measured != document.end() && measured->is_string())
    calibration.measured = parse_utc(measured->get<std::string>()).value_or(Timestamp());
  calibration.spread = values_at<double>(document, "spread", &nlohmann::json::is_number);
  calibration.missing = values_at<std::string>(document, "missing", &nlohmann::json::is_string);
  return calibration;
}

fs::path devices_folder(const fs::path& store) {
  return fs::absolute(store).parent_path() / "devices";
}

Result<fs::path> calibration_file(const fs::path& folder, const std::string& name) {
  if (!is_file_name(name))
    return bad_input(fmt::format("'{}' cannot be a device's name: it names a file", name));
  return folder / (name + ".json");
}

Result<fs::path> store_calibration(const fs::path& folder, const Calibration& calibration) {
  ASSAY_TRY(const fs::path file, calibration_file(folder, calibration.device.name));
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return refused(fmt::format("cannot make the folder {}: {}", folder.native(), error.message()));
  ASSAY_CHECK(write_file(file, calibration_text(calibration) + "\n"));
  return file;
}

Result<Calibration> load_calibration(const fs::path& file) {
  ASSAY_TRY(const std::string text, read_file(file));
  const auto document = nlohmann::json::parse(text, nullptr, false);
  return read_calibration(document, file.native());
}

std::vector<Result<Calibration>> load_calibrations(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Result<Calibration>> found;
  found.reserve(files.size());
  for (const auto& file : files) found.push_back(load_calibration(file));
  return found;
}

}  // namespace assay::collect
