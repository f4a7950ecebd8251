// SPDX-License-Identifier: Apache-2.0
#include "playback/converter.h"
#include "playback/data_config.h"
#include "playback/source.h"
#include "playback/stream_server.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include <assay/launch/playback.h>

namespace assay::launch {
namespace {

class HttpPlayback final : public Playback {
 public:
  HttpPlayback(std::vector<Stream> streams, Converter converter,
               std::vector<std::unique_ptr<Source>> sources, std::unique_ptr<StreamServer> server)
      : streams_(std::move(streams)),
        converter_(std::move(converter)),
        sources_(std::move(sources)),
        server_(std::move(server)) {}

  std::string url(const std::string& id) const override {
    return "http://" + server_->where() + "/streams/" + url_encoded(id);
  }
  Json data_config() const override {
    return data_config_of(streams_, [this](const std::string& id) { return url(id); });
  }
  bool finished() const override {
    return std::all_of(sources_.begin(), sources_.end(),
                       [](const auto& source) { return source->is_finished(); });
  }
  PlaybackStats stats() const override;
  std::vector<std::string> notes() const override;

 private:
  std::vector<Stream> streams_;
  Converter converter_;  ///< keeps what it converted
  std::vector<std::unique_ptr<Source>> sources_;
  std::unique_ptr<StreamServer> server_;
};

PlaybackStats HttpPlayback::stats() const {
  PlaybackStats stats;
  for (const auto& source : sources_) stats.streams.push_back(source->stats());
  stats.refused_clients = server_->refused_clients();
  stats.cpu_seconds = server_->cpu_seconds();
  return stats;
}

std::vector<std::string> HttpPlayback::notes() const {
  std::vector<std::string> notes;
  for (const auto& source : sources_) {
    if (!source->note().empty()) notes.push_back(source->note());
  }
  return notes;
}

}  // namespace

Result<std::unique_ptr<Playback>> Playback::start(const std::vector<Stream>& streams,
                                                  const std::filesystem::path& dataset,
                                                  const std::filesystem::path& cache,
                                                  const PlaybackOptions& options) {
  ASSAY_CHECK(check_ids(streams));
  DatasetCache frames;
  frames.folder = cache;
  ASSAY_TRY(Converter converter, Converter::open(frames, options.progress, options.stop));
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<Source*> served;
  for (const Stream& stream : streams) {
    ASSAY_TRY(auto source, Source::open(stream, dataset, converter));
    served.push_back(source.get());
    sources.push_back(std::move(source));
  }
  ASSAY_TRY(auto server, StreamServer::listen(options.address, std::move(served)));
  return std::unique_ptr<Playback>(std::make_unique<HttpPlayback>(
      streams, std::move(converter), std::move(sources), std::move(server)));
}

}  // namespace assay::launch
