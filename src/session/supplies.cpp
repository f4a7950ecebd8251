// SPDX-License-Identifier: Apache-2.0
#include "supplies.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>

#include <assay/base/files.h>

namespace assay::session {
namespace {

namespace fs = std::filesystem;

Result<void> get_image(const std::string& image, launch::Containers& containers,
                       const Options& options, Listener& listener) {
  return containers.have_image(image, [&](uint64_t done, uint64_t total) {
    listener.progress(fmt::format("pulling {}", image), done, total);
    return !interrupt_waits(options.interrupt_fd);
  });
}

Result<launch::Dataset> get_dataset(const Target& target, const Options& options,
                                    Listener& listener) {
  return launch::fetch_dataset(
      {target.dataset, target.dataset_sha256}, launch::default_dataset_cache(),
      [&](uint64_t done, std::optional<uint64_t> total) {
        listener.progress(fmt::format("fetching {}", masked_text(target.dataset)), done,
                          total.value_or(0));
        return !interrupt_waits(options.interrupt_fd);
      });
}

/// The Python modules that apps report with: installed beside our program, or in the source tree.
fs::path client_library() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const auto* place : {"../share/assay/python", "../../../clients/python"}) {
    fs::path folder = (program / place).lexically_normal();
    if (fs::exists(folder / "assay" / "__init__.py", error)) return folder;
  }
  return {};
}

/// The app may be anybody inside of its container.
Result<fs::path> open_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) fs::permissions(folder, fs::perms::all, error);
  if (error) return refused(fmt::format("cannot make {}: {}", folder.native(), error.message()));
  return folder;
}

}  // namespace

bool interrupt_waits(int fd) {
  pollfd waiting = {fd, POLLIN, 0};
  return fd >= 0 && ::poll(&waiting, 1, 0) > 0;
}

Result<Supplies> get_supplies(const Target& target, launch::Containers* containers,
                              const Options& options, Listener& listener) {
  Supplies supplies;
  if (containers != nullptr && !target.image.empty())
    ASSAY_CHECK(get_image(target.image, *containers, options, listener));
  for (const auto& need : target.needs) {
    if (containers == nullptr) break;
    ASSAY_CHECK(get_image(need.image, *containers, options, listener));
  }
  if (!target.dataset.empty()) {
    ASSAY_TRY(auto dataset, get_dataset(target, options, listener));
    supplies.dataset.emplace(std::move(dataset));
  }
  return supplies;
}

Result<RunSupplies> RunSupplies::make(const Target& target, const Supplies& supplies,
                                      launch::Containers* containers, const launch::Needs* needs,
                                      const fs::path& folder, const Clock& clock, SampleSink& sink,
                                      const launch::Waiting& waiting) {
  RunSupplies run;
  const bool contained = containers != nullptr && !target.image.empty();
  if (supplies.dataset) run.dataset_ = supplies.dataset->path();
  if (contained) run.client_library_ = client_library();
  ASSAY_TRY(run.published_folder_, open_folder(folder / "published"));
  run.published_ = hooks::follow_pywaggle_log(run.published_folder_, clock, sink);
  if (target.playback.empty()) return run;
  launch::PlaybackOptions options;
  std::stop_source stop;
  options.stop = stop.get_token();
  options.progress = [&](const std::string& file, uint64_t) {
    if (!waiting(fmt::format("converting {} for playback", file))) stop.request_stop();
  };
  if (contained) {
    ASSAY_TRY(options.address, containers->host_address(target, needs));
  }
  ASSAY_TRY(run.playback_,
            launch::Playback::start(target.playback, run.dataset_,
                                    launch::default_dataset_cache().folder.parent_path() / "frames",
                                    options));
  run.data_config_ = folder / "data-config.json";
  ASSAY_CHECK(write_file(run.data_config_, run.playback_->data_config().dump(2)));
  std::error_code ignored;
  fs::permissions(run.data_config_, fs::perms::others_read | fs::perms::group_read,
                  fs::perm_options::add, ignored);
  return run;
}

void RunSupplies::put_into(launch::Request& request) const {
  request.dataset = dataset_;
  request.data_config = data_config_;
  request.published = published_folder_;
  request.client_library = client_library_;
}

void RunSupplies::poll() {
  published_->poll();
}

void RunSupplies::finish() {
  published_->finish();
  // Pictures and recordings that a plugin would have sent away.
  std::error_code ignored;
  fs::remove_all(published_folder_ / "uploads", ignored);
  if (fs::is_empty(published_folder_, ignored)) fs::remove(published_folder_, ignored);
}

std::vector<NotMeasured> RunSupplies::notes() const {
  std::vector<NotMeasured> notes;
  if (!playback_) return notes;
  for (const auto& note : playback_->notes()) notes.push_back({"playback", note});
  for (const auto& stream : playback_->stats().streams) {
    if (stream.late_frames == 0) continue;
    notes.push_back({"playback", fmt::format("{} of {} frames of {} were late: this machine was "
                                             "too busy to play them in time",
                                             stream.late_frames, stream.frames_sent, stream.id)});
  }
  return notes;
}

}  // namespace assay::session
