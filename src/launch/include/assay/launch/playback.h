// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/samples/records.h>

namespace assay::launch {

struct PlaybackOptions {
  /// Where to listen: loopback for a process, the bridge's gateway for a container.
  std::string address = "127.0.0.1";
  /// Told about each file that has to be converted first, and how far it is.
  std::function<void(const std::string& file, uint64_t frames)> progress;
  std::stop_token stop;  ///< ends a conversion; start() then fails
};

/// What one stream has done so far.
struct StreamStats {
  std::string id;
  uint64_t frames_sent = 0;     ///< to all clients together; of audio, pieces of 100 ms
  uint64_t frames_skipped = 0;  ///< by clients that were too slow for them
  uint64_t late_frames = 0;     ///< sent more than half a frame late through our own fault
  uint64_t bad_frames = 0;      ///< files that are no whole JPEG, or are gone
};

struct PlaybackStats {
  std::vector<StreamStats> streams;
  uint64_t refused_clients = 0;  ///< beyond the number of connections that are served
  double cpu_seconds = 0;        ///< of the thread that plays
};

/// Serves a dataset over HTTP as a node's cameras and microphones would: `video` as MJPEG, `image`
/// as one JPEG a request, `audio` as a WAV without end. Each stream begins with its first frame at
/// its first request, so that every run sees the same, and goes on by the clock whoever watches: a
/// client that is slow misses frames. Has a thread of its own; its functions may be called from
/// any. Destroying it ends all connections.
class Playback {
 public:
  /// Finds and checks the files, converts what is no JPEG or WAV into the `cache` folder (once;
  /// needs ffmpeg) and listens.
  static Result<std::unique_ptr<Playback>> start(const std::vector<Stream>& streams,
                                                 const std::filesystem::path& dataset,
                                                 const std::filesystem::path& cache,
                                                 const PlaybackOptions& options = {});
  virtual ~Playback() = default;

  /// "http://ADDRESS:PORT/streams/top_live". One second of an audio stream as a file of its own is
  /// at "/chunk" behind it.
  virtual std::string url(const std::string& id) const = 0;
  /// What belongs into /run/waggle/data-config.json.
  virtual Json data_config() const = 0;
  /// Every stream has been played once; never while one of them loops.
  virtual bool finished() const = 0;
  virtual PlaybackStats stats() const = 0;
  /// What a user should know, one sentence each: "2 of 90 frames are no whole JPEGs (...)".
  virtual std::vector<std::string> notes() const = 0;
};

}  // namespace assay::launch
