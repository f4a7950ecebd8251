// SPDX-License-Identifier: Apache-2.0
#include "model_server.h"

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <random>
#include <thread>

#include <assay/base/secret.h>
#include <assay/net/http_server.h>

namespace assay::placement {
namespace {

constexpr const char* kPath = "/model";
constexpr int kKeyWords = 8;

/// 256 random bits.
std::string new_key() {
  std::random_device random;
  std::string key;
  for (int i = 0; i < kKeyWords; ++i) key += fmt::format("{:08x}", random());
  return key;
}

/// "10.0.0.5" of "10.0.0.5:7020"; an address of IPv6 has its brackets.
std::string host_of(const std::string& address) {
  const size_t colon = address.rfind(':');
  const bool has_port = colon != address.npos && address.find(']', colon) == address.npos;
  return has_port ? address.substr(0, colon) : address;
}

}  // namespace

struct ModelServer::Running {
  boost::asio::io_context loop{1};
  std::unique_ptr<net::HttpServer> server;
  std::jthread thread;
};

ModelServer::ModelServer() : running_(std::make_unique<Running>()) {}

ModelServer::~ModelServer() {
  running_->loop.stop();
  if (running_->thread.joinable()) running_->thread.join();
}

Result<std::unique_ptr<ModelServer>> ModelServer::start(const std::filesystem::path& file,
                                                        const std::string& address) {
  std::unique_ptr<ModelServer> made(new ModelServer());
  made->key_ = new_key();
  Running& running = *made->running_;
  running.server = std::make_unique<net::HttpServer>(
      running.loop, [file, key = made->key_](const net::ServerRequest& request) {
        if (!is_same_secret("Bearer " + key, request.authorization))
          return net::refusal(401, "the key is wrong");
        if (request.path != kPath) return net::refusal(404, "there is one model here");
        net::ServerResponse response;
        response.content_type = "application/octet-stream";
        response.file = file;
        return response;
      });
  const std::string host = host_of(address);
  ASSAY_TRY(const int port, running.server->listen(host == address ? host + ":0" : address));
  made->url_ = fmt::format("http://{}:{}{}", host, port, kPath);
  running.thread = std::jthread([&running] { running.loop.run(); });
  return made;
}

}  // namespace assay::placement
