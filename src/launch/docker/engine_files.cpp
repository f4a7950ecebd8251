// SPDX-License-Identifier: Apache-2.0
// What an engine is told and asked about the inside of a container.
#include "docker/engine.h"
#include "docker/engine_answers.h"
#include "docker/tar_of_one.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::launch {
namespace {

constexpr auto kLongestCopy = Milliseconds(600'000);

}  // namespace

Result<void> Engine::put(const std::string& id, const std::string& folder, const std::string& name,
                         const std::filesystem::path& file) {
  ASSAY_TRY(TarOfOne tar, TarOfOne::open(file, name));
  net::Request request;
  request.method = "PUT";
  request.path = fmt::format("/containers/{}/archive?path={}", id, net::url_encoded(folder));
  request.headers = {"Content-Type: application/x-tar"};
  request.read_body = [&tar](char* to, size_t most) { return tar.read(to, most); };
  request.body_size = tar.size();
  request.timeout = kLongestCopy;
  request.still_wanted = wanted_;
  auto response = client_.send(request);
  if (!response) return cannot_reach(response.error());
  if (response->status == 0) return refused("stopped while a file was copied into a container");
  if (!response->ok())
    return refused(fmt::format("{} cannot be copied into the container: {}", file.native(),
                               message_of(response->body, response->status)));
  return {};
}

Result<std::string> Engine::last_output(const std::string& id, int lines) {
  net::Request request;
  request.path = fmt::format("/containers/{}/logs?stdout=true&stderr=true&tail={}", id, lines);
  ASSAY_TRY(const net::Response response, call(std::move(request)));
  if (!response.ok()) return refused(message_of(response.body, response.status));
  std::string text;
  OutputSplitter splitter([&](Output, std::string_view piece) { text += piece; });
  splitter.feed(response.body);
  return text;
}

Result<std::string> Engine::published(const std::string& id, int port) {
  net::Request request;
  request.path = fmt::format("/containers/{}/json", net::url_encoded(id));
  ASSAY_TRY(const Json json, call_json(request));
  return read_published(json, port);
}

}  // namespace assay::launch
