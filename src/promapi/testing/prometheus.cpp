// SPDX-License-Identifier: Apache-2.0
#include "testing/prometheus.h"

#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <netinet/in.h>
#include <poll.h>
#include <random>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <assay/base/files.h>
#include <assay/net/http_client.h>
#include <gtest/gtest.h>

namespace assay::promapi::testing {
namespace {

constexpr const char* kConfig = R"(
scrape_configs:
  - job_name: assay
    scrape_interval: 1s
    file_sd_configs: [{files: [targets.json]}]
)";
constexpr auto kPatience = std::chrono::seconds(30);

/// A port that is free just now, and none that the kernel gives away by itself.
int free_port() {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::random_device random;
  for (int tries = 0; tries < 1000; ++tries) {
    const int port = std::uniform_int_distribution(20000, 29999)(random);
    address.sin_port = htons(static_cast<uint16_t>(port));
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return port;
  }
  ADD_FAILURE() << "no port is free";
  return 0;
}

net::Response get(const std::string& url, const std::filesystem::path& authority = {}) {
  net::HttpClient client(net::Endpoint{.base = url, .ca_file = authority});
  return client.send({}).value_or(net::Response{});
}

}  // namespace

Prometheus::Prometheus(std::filesystem::path folder)
    : folder_(std::move(folder)), port_(free_port()) {
  std::ofstream(folder_ / "prometheus.yml") << kConfig;
}

std::string Prometheus::base() const {
  return fmt::format("{}://127.0.0.1:{}", has_tls() ? "https" : "http", port_);
}

bool Prometheus::has_tls() const {
  return std::filesystem::exists(folder_ / "web.yml");
}

bool Prometheus::answers() const {
  return get(base() + "/-/ready", has_tls() ? folder_ / "cert.pem" : "").ok();
}

bool Prometheus::start() {
  run();
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!answers()) {
    const bool ended = ::waitpid(pid_, nullptr, WNOHANG) != 0;
    if (ended) pid_ = -1;
    if (ended || std::chrono::steady_clock::now() > end) return false;
    ::poll(nullptr, 0, 20);
  }
  return true;
}

void Prometheus::run() {
  std::vector<std::string> words{
      "prometheus", fmt::format("--config.file={}", (folder_ / "prometheus.yml").native()),
      fmt::format("--storage.tsdb.path={}", (folder_ / "data").native()),
      fmt::format("--web.listen-address=127.0.0.1:{}", port_),
      "--web.enable-remote-write-receiver"};
  if (has_tls())
    words.push_back(fmt::format("--web.config.file={}", (folder_ / "web.yml").native()));
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const Fd log(::open((folder_ / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(log.get(), STDOUT_FILENO);
  ::dup2(log.get(), STDERR_FILENO);
  ::execvp("prometheus", arguments.data());
  ::_exit(127);
}

void Prometheus::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

nlohmann::json Prometheus::query(const std::string& expression) const {
  const auto answer = get(base() + "/api/v1/query?query=" + net::url_encoded(expression));
  EXPECT_TRUE(answer.ok()) << answer.body;
  return nlohmann::json::parse(answer.body, nullptr, false)["data"]["result"];
}

}  // namespace assay::promapi::testing
