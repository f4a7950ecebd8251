// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>
#include <assay/collect/share.h>
#include <assay/model/trace.h>

namespace assay::collect {

/// What goes on beside a model while it is timed.
struct Background {
  int workers = 0;
  int percent = 0;  ///< of a core, that each uses

  /// "idle", "2x60%".
  std::string text() const;
};
/// "idle,2x60%": the reverse, for one or several.
Result<std::vector<Background>> parse_backgrounds(const std::string& text);

/// Where backgrounds come from.
enum class Load : uint8_t {
  idle,    ///< nowhere
  stress,  ///< stress-ng on some cores
};

struct Options {
  std::filesystem::path models;  ///< a folder of .onnx files, or one
  std::filesystem::path file;    ///< the table
  std::string device;            ///< its name in the table
  std::string family;            ///< of all models; empty: what stands before '-' or '_' in a name
  std::vector<std::string> engines = {"opencv"};
  std::filesystem::path images;  ///< a folder of .jpg and .png files; empty: random inputs
  int iterations = 100;
  Load load = Load::stress;
  std::vector<Background> backgrounds;  ///< taken in turn; empty: as `load` draws them
  int threads = 0;                      ///< 0: as many as the device has cores
  bool gpu = false;                     ///< compute on it; engines that cannot refuse
  uint64_t seed = 0;
  int inferences = 300;   ///< of one iteration, at most ...
  double seconds = 1;     ///< ... and so long, but for a few of slow models
  double patience = 120;  ///< seconds that they may take longer
  Share share;
  model::TraceOptions dims = {};  ///< of models whose files leave them open
};

struct Progress {
  size_t done = 0;  ///< iterations of this call, with those that a refusal left out
  size_t total = 0;
  std::string what;         ///< "resnet18 opencv 2x60%: 12.3 ms"
  double seconds_left = 0;  ///< 0: not known yet
};

struct Listener {
  std::function<void(const Progress&)> progress;
  std::function<bool()> wanted;  ///< asked several times a second; false ends it
};

struct Collected {
  size_t models = 0;
  size_t measured = 0;  ///< rows of this call
  size_t refused = 0;
  size_t late = 0;  ///< beside other work not in time; left for another call
  size_t outliers = 0;
  size_t disturbed = 0;                 ///< meant to be idle, and were not
  double most_disturbed = 0;            ///< percent of load
  size_t before = 0;                    ///< rows that were there
  std::vector<std::string> bad_images;  ///< files that were left out
  bool interrupted = false;
};

/// Runs every model on every engine under every background, and writes a row for each as soon as it
/// is measured. What the file already has is not measured again. Call it where enter() has led.
Result<Collected> collect(const Options& options, const Listener& listener);

/// What keeps the options from being used, before anything is started.
Result<void> check(const Options& options);

/// "/dev/nvidia0": a device file of a GPU that a program could compute on; empty: none is here.
std::string find_gpu(const SysRoot& root = SysRoot());

}  // namespace assay::collect
