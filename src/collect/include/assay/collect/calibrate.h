// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/collect/share.h>
#include <assay/predict/device.h>

namespace assay::collect {

struct CalibrateOptions {
  std::string name;    ///< of the device; empty: the machine's
  bool quick = false;  ///< seconds instead of half a minute, and less exact
  Share share;
  std::vector<std::string> engines;  ///< whose launch is timed; empty: all that can be started
  std::string peer;              ///< "address:port" that takes whatever is sent; empty: loopback
  std::filesystem::path folder;  ///< on the disk to measure
  /// A program that prints gpu_figures_text(); started where a GPU is, as drivers hang and crash.
  std::vector<std::string> gpu_command;
};

/// What a device was measured to do. docs/devices.md names the figures.
struct Calibration {
  predict::Device device;
  Timestamp measured;
  /// By the name of the figure: how far parts of its measurement are apart, 0.01 is one percent.
  std::map<std::string, double> spread;
  /// By the name of what has no figure: why not.
  std::map<std::string, std::string> missing;
};

struct CalibrateListener {
  std::function<void(const std::string& what)> doing;
  std::function<bool()> wanted;  ///< asked between figures; false ends it
};

/// Measures this device, or the share of it that enter() has led into.
Result<Calibration> calibrate(const CalibrateOptions& options, const CalibrateListener& listener);

/// Measures the GPU in this process, and says in one line what calibrate() wants to know.
std::string gpu_figures_text(bool quick);

nlohmann::json calibration_document(const Calibration& calibration);
/// The same as text; whatever names are, it is in UTF-8.
std::string calibration_text(const Calibration& calibration);
/// `where` is for messages.
Result<Calibration> read_calibration(const nlohmann::json& document, const std::string& where);

/// Calibrations are files NAME.json in a folder beside the history.
std::filesystem::path devices_folder(const std::filesystem::path& store);
/// An error for a name that could be no file's.
Result<std::filesystem::path> calibration_file(const std::filesystem::path& folder,
                                               const std::string& name);
/// Replaces what was there, whole or not at all. Returns the file.
Result<std::filesystem::path> store_calibration(const std::filesystem::path& folder,
                                                const Calibration& calibration);
Result<Calibration> load_calibration(const std::filesystem::path& file);
/// By name; files that cannot be read are errors of their own.
std::vector<Result<Calibration>> load_calibrations(const std::filesystem::path& folder);

}  // namespace assay::collect
