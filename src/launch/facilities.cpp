// SPDX-License-Identifier: Apache-2.0
#include "docker/engine.h"
#include "network_link.h"
#include "playback/ffmpeg.h"

#include <fmt/format.h>

#include <assay/launch/launcher.h>

namespace assay::launch {
namespace {

Result<std::string> find_engine() {
  ASSAY_TRY(const net::Endpoint endpoint, engine_endpoint());
  ASSAY_TRY(const auto containers, find_containers());
  const std::string socket = endpoint.unix_socket.native();
  return fmt::format("{} at {}", containers->engine(), socket.empty() ? endpoint.base : socket);
}

/// A rate alone and a delay need different queues of the kernel.
Result<std::string> try_link() {
  Link link;
  link.rate_bits_per_second = 1e6;
  ASSAY_CHECK(can_apply(link));
  link.delay = Milliseconds(1);
  ASSAY_CHECK(can_apply(link));
  return std::string("rate, delay and loss can be set on a container's network");
}

Result<std::string> try_ffmpeg() {
  ASSAY_CHECK(find_ffmpeg());
  return std::string("converted by ffmpeg");
}

}  // namespace

std::vector<Facility> examine_facilities() {
  return {{"apps in containers", find_engine()},
          {"apps on a slow link", try_link()},
          {"apps with played videos", try_ffmpeg()}};
}

}  // namespace assay::launch
