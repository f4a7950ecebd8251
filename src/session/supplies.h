// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/hooks/pywaggle_log.h>
#include <assay/launch/dataset.h>
#include <assay/launch/launcher.h>
#include <assay/launch/playback.h>
#include <assay/samples/records.h>
#include <assay/session/session.h>

namespace assay::session {

/// Whether the user asked to stop while no run was looking.
bool interrupt_waits(int fd);

/// What every run of a target needs beside the app, on this machine before the first one starts:
/// its images and its dataset.
struct Supplies {
  std::optional<launch::Dataset> dataset;
};

/// Pulls and fetches what is not here, telling how far it is. Ends with an error when the user
/// interrupts it.
Result<Supplies> get_supplies(const Target& target, launch::Containers* containers,
                              const Options& options, Listener& listener);

/// What one run plays and publishes; ends with it.
class RunSupplies {
 public:
  /// `folder` is the run's own; `needs` what runs beside the app, if anything. A conversion for
  /// playback is told to `waiting`, which can end it.
  static Result<RunSupplies> make(const Target& target, const Supplies& supplies,
                                  launch::Containers* containers, const launch::Needs* needs,
                                  const std::filesystem::path& folder, const Clock& clock,
                                  SampleSink& sink, const launch::Waiting& waiting);

  /// Tells the launcher where everything is.
  void put_into(launch::Request& request) const;
  void poll();
  /// The app has ended.
  void finish();
  /// The published values of this moment.
  const std::map<std::string, double>& latest() const { return published_->latest(); }
  std::vector<NotMeasured> notes() const;

 private:
  std::filesystem::path dataset_;
  std::filesystem::path data_config_;
  std::filesystem::path published_folder_;
  std::filesystem::path client_library_;
  std::unique_ptr<launch::Playback> playback_;
  std::unique_ptr<hooks::PywaggleLog> published_;
};

}  // namespace assay::session
