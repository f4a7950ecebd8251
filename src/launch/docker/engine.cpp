// SPDX-License-Identifier: Apache-2.0
#include "docker/engine.h"

#include "docker/engine_answers.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <unistd.h>
#include <utility>

#include <assay/base/files.h>
#include <assay/base/text.h>

namespace assay::launch {
namespace fs = std::filesystem;
namespace {

using std::chrono::steady_clock;

constexpr std::string_view kUnix = "unix://";
constexpr std::string_view kTcp = "tcp://";
constexpr auto kSilentPull = Milliseconds(120'000);
/// For a container of an order that was not answered, which the daemon may still be working on.
constexpr auto kTakeBack = std::chrono::seconds(3);
constexpr auto kShortPatience = Milliseconds(2000);
/// For a container that somebody else is removing already.
constexpr auto kOthersRemoval = std::chrono::seconds(5);
constexpr int kLookAgain = 50;  // milliseconds

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_there(const fs::path& socket) {
  std::error_code error;
  return fs::is_socket(socket, error);
}

fs::path usual_socket() {
  fs::path docker = "/var/run/docker.sock";
  std::vector<fs::path> others = {"/run/podman/podman.sock"};
  if (const std::string runtime = variable("XDG_RUNTIME_DIR"); !runtime.empty()) {
    others.insert(others.begin(), fs::path(runtime) / "podman/podman.sock");
    others.insert(others.begin(), fs::path(runtime) / "docker.sock");
  }
  if (is_there(docker)) return docker;
  for (const auto& other : others) {
    if (is_there(other)) return other;
  }
  return docker;
}

Result<net::Endpoint> tcp_endpoint(const std::string& address) {
  net::Endpoint endpoint;
  const std::string verify = variable("DOCKER_TLS_VERIFY");
  const std::string path = variable("DOCKER_CERT_PATH");
  if (verify.empty()) {
    endpoint.base = "http://" + address;
    return endpoint;
  }
  const fs::path folder = path.empty() ? fs::path(variable("HOME")) / ".docker" : fs::path(path);
  endpoint.base = "https://" + address;
  endpoint.ca_file = folder / "ca.pem";
  endpoint.certificate_file = folder / "cert.pem";
  endpoint.key_file = folder / "key.pem";
  std::error_code error;
  for (const auto& file : {endpoint.ca_file, endpoint.certificate_file, endpoint.key_file}) {
    if (!fs::exists(file, error)) {
      return bad_input(fmt::format(
          "DOCKER_TLS_VERIFY is set but {} is not there; set DOCKER_CERT_PATH to the folder "
          "with ca.pem, cert.pem and key.pem",
          file.native()));
    }
  }
  return endpoint;
}

std::string said(const net::Response& response) {
  return message_of(response.body, response.status);
}

bool is_ok(const net::Response& response) {
  return response.status >= 200 && response.status < 400;
}

net::Request post(std::string path) {
  net::Request request;
  request.method = "POST";
  request.path = std::move(path);
  return request;
}

net::Request post(std::string path, const Json& body) {
  net::Request request = post(std::move(path));
  request.headers = {"Content-Type: application/json"};
  request.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  return request;
}

net::Request get(std::string path) {
  net::Request request;
  request.path = std::move(path);
  return request;
}

net::Request erase(std::string path) {
  net::Request request;
  request.method = "DELETE";
  request.path = std::move(path);
  return request;
}

std::string container_path(const std::string& id) {
  return fmt::format("/containers/{}?force=true&v=true", id);
}

std::string network_path(const std::string& name) {
  return "/networks/" + net::url_encoded(name);
}

std::string filter(const std::string& label) {
  return net::url_encoded(Json({{"label", {label}}}).dump());
}

}  // namespace

Result<net::Endpoint> engine_endpoint() {
  const std::string host = variable("DOCKER_HOST");
  if (!host.empty()) return engine_endpoint(host);
  net::Endpoint endpoint;
  endpoint.unix_socket = usual_socket();
  return endpoint;
}

Result<net::Endpoint> engine_endpoint(const std::string& host) {
  if (host.starts_with(kTcp)) return tcp_endpoint(host.substr(kTcp.size()));
  if (!host.starts_with(kUnix))
    return bad_input(fmt::format(
        "DOCKER_HOST={} cannot be used; write unix:///path/to/docker.sock or tcp://host:2376",
        host));
  net::Endpoint endpoint;
  endpoint.unix_socket = host.substr(kUnix.size());
  return endpoint;
}

Engine::Engine(net::Endpoint endpoint) : endpoint_(endpoint), client_(std::move(endpoint)) {}

Failure Engine::cannot_reach(const Error& error) const {
  const std::string socket = endpoint_.unix_socket.native();
  if (socket.empty()) return fail(error);
  switch (client_.os_error()) {
    case EACCES:
    case EPERM:
      return refused(fmt::format(
          "no permission to talk to the container daemon at {}; join its group (sudo usermod -aG "
          "docker $USER, then log in anew) or run with sudo",
          socket));
    case ENOENT:
      return refused(fmt::format(
          "no container daemon is at {}; start Docker (sudo systemctl start docker) or Podman "
          "(systemctl --user start podman.socket), or set DOCKER_HOST",
          socket));
    case ECONNREFUSED:
      return refused(
          fmt::format("the container daemon at {} is dead: nobody answers; start it (sudo "
                      "systemctl start docker)",
                      socket));
    default:
      return fail(
          {ErrorKind::environment,
           fmt::format("the container daemon at {} does not answer: {}", socket, error.message),
           error.temporary});
  }
}

bool Engine::nobody_listens() const {
  return client_.os_error() == ENOENT || client_.os_error() == ECONNREFUSED;
}

Result<net::Response> Engine::call(net::Request request) {
  request.timeout = silent_ ? std::min(patience_, kShortPatience) : patience_;
  bool stopped = false;
  if (wanted_ && request.method != "DELETE") {
    request.still_wanted = [&] {
      stopped = stopped || !wanted_();
      return !stopped;
    };
  }
  const auto begin = steady_clock::now();
  auto response = client_.send(request);
  silent_ = !response && steady_clock::now() - begin >= request.timeout;
  if (stopped) return refused("stopped while the container daemon was waited for");
  if (!response) return cannot_reach(response.error());
  return std::move(*response);
}

Result<Json> Engine::call_json(const net::Request& request) {
  ASSAY_TRY(const net::Response response, call(request));
  return json_of(response);
}

Result<Json> Engine::json_of(const net::Response& response) const {
  if (response.status == 400 && response.body.find("to an HTTPS server") != std::string::npos) {
    return refused(fmt::format(
        "the container daemon at {} wants TLS; set DOCKER_TLS_VERIFY=1, and DOCKER_CERT_PATH to "
        "the folder with ca.pem, cert.pem and key.pem",
        endpoint_.base));
  }
  if (!is_ok(response)) {
    const auto kind = response.status == 404 ? ErrorKind::input : ErrorKind::environment;
    const bool temporary = response.status == 429 || response.status >= 500;
    return fail({kind, "the container daemon refused: " + said(response), temporary});
  }
  Json json = Json::parse(response.body, nullptr, false);
  if (json.is_discarded()) {
    return refused(fmt::format("what answers at {}{} is no container daemon",
                               endpoint_.unix_socket.native(),
                               endpoint_.unix_socket.empty() ? endpoint_.base : std::string()));
  }
  return json;
}

Result<EngineInfo> Engine::info() {
  ASSAY_TRY(const Json json, call_json(get("/version")));
  auto info = read_engine(json);
  if (!info) return refused("what answers at the container daemon's socket is none");
  ASSAY_TRY(const Json more, call_json(get("/info")));
  add_info(more, *info);
  return std::move(*info);
}

Result<std::optional<ImageInfo>> Engine::image(const std::string& name) {
  ASSAY_TRY(const net::Response response, call(get(fmt::format("/images/{}/json", name))));
  if (response.status == 404) return std::optional<ImageInfo>();
  if (!is_ok(response)) return refused("the container daemon refused: " + said(response));
  const Json json = Json::parse(response.body, nullptr, false);
  if (!json.is_object()) return refused("the container daemon's answer about an image is no JSON");
  return std::optional<ImageInfo>(read_image(json));
}

Result<void> Engine::pull(const std::string& name, const TakeProgress& progress) {
  const ImageName image = split_image(name);
  net::Request request =
      post(fmt::format("/images/create?fromImage={}&tag={}", net::url_encoded(image.name),
                       net::url_encoded(image.tag)));
  request.timeout = Milliseconds(0);
  request.silence = kSilentPull;
  PullProgress state;
  std::string line;
  std::optional<Error> failed;
  bool given_up = false;
  const auto take = [&](std::string_view bytes) {
    for (const char c : bytes) {
      if (c != '\n') {
        line += c;
        continue;
      }
      if (auto read = state.line(line); !read && !failed) failed = read.error();
      line.clear();
    }
    given_up = !progress(state.done(), state.total());
    return !given_up;
  };
  request.still_wanted = [&] {
    given_up = given_up || !progress(state.done(), state.total());
    return !given_up;
  };
  auto response = client_.stream(request, take);
  if (given_up) return refused(fmt::format("stopped while pulling {}", name));
  if (!response) return cannot_reach(response.error());
  if (!failed && !line.empty()) {
    if (auto read = state.line(line); !read) failed = read.error();
  }
  if (!is_ok(*response)) failed = Error{ErrorKind::environment, said(*response)};
  if (failed) {
    return refused(fmt::format("image {} is not on this machine and cannot be pulled: {}", name,
                               failed->message));
  }
  return {};
}

Result<std::string> Engine::create(const std::string& name, const Json& body) {
  auto response = call(post("/containers/create?name=" + net::url_encoded(name), body));
  if (!response) return take_back(container_path(name), "container " + name, response.error());
  ASSAY_TRY(const Json json, json_of(*response));
  const std::string id = text_of(json, "Id");
  if (id.empty()) return refused("the container daemon created a container without an id");
  return id;
}

Failure Engine::take_back(const std::string& path, const std::string& what, Error error) {
  if (nobody_listens()) return fail(std::move(error));
  const Milliseconds patience = std::exchange(patience_, kShortPatience);
  bool removed = false;
  for (const auto end = steady_clock::now() + kTakeBack; !removed && steady_clock::now() < end;) {
    const auto response = call(erase(path));
    removed = response && is_ok(*response);
    if (!removed) ::poll(nullptr, 0, kLookAgain);
  }
  patience_ = patience;
  if (!removed) {
    error.message +=
        fmt::format("; should it make the {} after all, `{}` removes it", what, remover_);
  }
  return fail(std::move(error));
}

Result<void> Engine::start(const std::string& id) {
  ASSAY_TRY(const net::Response response, call(post(fmt::format("/containers/{}/start", id))));
  if (is_ok(response)) return {};
  return fail(ErrorKind::app, said(response));
}

Result<ContainerState> Engine::inspect(const std::string& id) {
  ASSAY_TRY(const Json json,
            call_json(get(fmt::format("/containers/{}/json", net::url_encoded(id)))));
  return read_container(json);
}

Result<void> Engine::kill(const std::string& id, const std::string& signal) {
  ASSAY_TRY(const net::Response response,
            call(post(fmt::format("/containers/{}/kill?signal={}", id, signal))));
  if (is_ok(response)) return {};
  const bool ended = says_it_has_ended(response.body, response.status);
  return fail(ended ? ErrorKind::input : ErrorKind::environment, said(response));
}

Result<void> Engine::remove(const std::string& id) {
  ASSAY_TRY(const net::Response response, call(erase(container_path(id))));
  if (is_ok(response) || response.status == 404) return {};
  if (response.status == 409 && is_soon_gone(id)) return {};
  return refused(said(response));
}

bool Engine::is_soon_gone(const std::string& id) {
  for (const auto end = steady_clock::now() + kOthersRemoval; steady_clock::now() < end;) {
    if (const auto state = inspect(id); !state) return state.error().kind == ErrorKind::input;
    ::poll(nullptr, 0, kLookAgain);
  }
  return false;
}

Result<std::vector<Listed>> Engine::list(const std::string& label) {
  ASSAY_TRY(const Json json, call_json(get("/containers/json?all=true&filters=" + filter(label))));
  return read_list(json);
}

Result<void> Engine::attach(const std::string& id, const std::function<void()>& attached,
                            const TakeOutput& take, net::Stopper& stopper) {
  net::Request request =
      post(fmt::format("/containers/{}/attach?stream=true&stdout=true&stderr=true", id));
  request.timeout = Milliseconds(0);
  request.on_head = attached;
  OutputSplitter splitter(take);
  auto response = client_.stream(
      request,
      [&](std::string_view bytes) {
        splitter.feed(bytes);
        return true;
      },
      &stopper);
  if (!response) return fail(response.error());
  if (response->status != 0 && !is_ok(*response)) return refused(said(*response));
  return {};
}

Result<void> Engine::create_network(const std::string& name, const Json& labels) {
  const Json body = {
      {"Name", name}, {"CheckDuplicate", true}, {"Driver", "bridge"}, {"Labels", labels}};
  auto response = call(post("/networks/create", body));
  if (!response) return take_back(network_path(name), "network " + name, response.error());
  ASSAY_CHECK(json_of(*response));
  return {};
}

Result<void> Engine::remove_network(const std::string& name) {
  ASSAY_TRY(const net::Response response, call(erase(network_path(name))));
  if (is_ok(response) || response.status == 404) return {};
  return refused(said(response));
}

Result<std::vector<Listed>> Engine::networks(const std::string& label) {
  ASSAY_TRY(const Json json, call_json(get("/networks?filters=" + filter(label))));
  return read_list(json);
}

Result<std::string> Engine::address(const std::string& id, const std::string& network) {
  ASSAY_TRY(const Json json,
            call_json(get(fmt::format("/containers/{}/json", net::url_encoded(id)))));
  return read_address(json, network);
}

Result<std::string> Engine::gateway(const std::string& network) {
  ASSAY_TRY(const Json json, call_json(get(network_path(network))));
  const std::string gateway = read_gateway(json);
  if (!gateway.empty()) return gateway;
  return refused(fmt::format("network {} has no way to this machine", network));
}

}  // namespace assay::launch
