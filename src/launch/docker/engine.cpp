// SPDX-License-Identifier: Apache-2.0
#include "docker/engine.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <assay/base/files.h>
#include <assay/base/text.h>

namespace assay::launch {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kUnix = "unix://";
constexpr std::string_view kTcp = "tcp://";
constexpr auto kSilentPull = Milliseconds(120'000);

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

/// The daemon's own words, from {"message": "..."} (Docker) or {"cause", "message"} (Podman).
std::string message_of(const net::Response& response) {
  const Json json = Json::parse(response.body, nullptr, false);
  if (json.is_object() && json.contains("message") && json["message"].is_string())
    return json["message"].get<std::string>();
  const auto text = trim(response.body);
  return text.empty() ? fmt::format("status {}", response.status) : std::string(text);
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

std::string filter(const std::string& label) {
  return net::url_encoded(Json({{"label", {label}}}).dump());
}

std::string text_of(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

int number_of(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_number_integer() ? it->get<int>() : 0;
}

bool is_set(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_boolean() && it->get<bool>();
}

Json part(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it == json.end() ? Json() : *it;
}

std::map<std::string, std::string> labels_of(const Json& json) {
  std::map<std::string, std::string> labels;
  const Json all = part(json, "Labels");
  if (!all.is_object()) return labels;
  for (const auto& [name, value] : all.items()) {
    if (value.is_string()) labels[name] = value.get<std::string>();
  }
  return labels;
}

std::map<std::string, std::string> env_of(const Json& config) {
  std::map<std::string, std::string> env;
  for (const auto& entry : part(config, "Env")) {
    if (!entry.is_string()) continue;
    const auto text = entry.get<std::string>();
    const size_t equals = text.find('=');
    if (equals != std::string::npos) env[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return env;
}

ContainerState state_from(const Json& json) {
  ContainerState found;
  const Json state = part(json, "State");
  found.status = text_of(state, "Status");
  found.pid = number_of(state, "Pid");
  found.exit_code = number_of(state, "ExitCode");
  found.oom_killed = is_set(state, "OOMKilled");
  found.paused = is_set(state, "Paused");
  found.id = text_of(json, "Id");
  found.error = text_of(state, "Error");
  found.name = text_of(json, "Name");
  if (found.name.starts_with("/")) found.name.erase(0, 1);
  found.image = text_of(part(json, "Config"), "Image");
  found.command.push_back(text_of(json, "Path"));
  for (const auto& word : part(json, "Args")) {
    if (word.is_string()) found.command.push_back(word.get<std::string>());
  }
  return found;
}

}  // namespace

Result<net::Endpoint> engine_endpoint() {
  const std::string host = variable("DOCKER_HOST");
  net::Endpoint endpoint;
  if (host.empty()) {
    endpoint.unix_socket = usual_socket();
  } else if (host.starts_with(kUnix)) {
    endpoint.unix_socket = host.substr(kUnix.size());
  } else if (host.starts_with(kTcp)) {
    return tcp_endpoint(host.substr(kTcp.size()));
  } else {
    return bad_input(fmt::format(
        "DOCKER_HOST={} cannot be used; write unix:///path/to/docker.sock or tcp://host:2376",
        host));
  }
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
      return refused(
          fmt::format("the container daemon at {} does not answer: {}", socket, error.message));
  }
}

Result<net::Response> Engine::call(net::Request request) {
  request.timeout = patience_;
  auto response = client_.send(request);
  if (!response) return cannot_reach(response.error());
  return std::move(*response);
}

Result<Json> Engine::call_json(const net::Request& request) {
  ASSAY_TRY(const net::Response response, call(request));
  if (!is_ok(response)) {
    const auto kind = response.status == 404 ? ErrorKind::input : ErrorKind::environment;
    return fail(kind, "the container daemon refused: " + message_of(response));
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
  if (!json.is_object() || !json.contains("ApiVersion"))
    return refused("what answers at the container daemon's socket is none");
  EngineInfo info;
  info.name = "Docker " + text_of(json, "Version");
  info.architecture = text_of(json, "Arch");
  for (const auto& component : part(json, "Components")) {
    if (text_of(component, "Name") == "Podman Engine")
      info.name = "Podman " + text_of(component, "Version");
  }
  if (info.name.starts_with("Docker")) {
    ASSAY_TRY(const Json more, call_json(get("/info")));
    info.keeps_groups = text_of(more, "CgroupDriver") == "cgroupfs";
  }
  return info;
}

Result<std::optional<ImageInfo>> Engine::image(const std::string& name) {
  ASSAY_TRY(const net::Response response, call(get(fmt::format("/images/{}/json", name))));
  if (response.status == 404) return std::optional<ImageInfo>();
  if (!is_ok(response)) return refused("the container daemon refused: " + message_of(response));
  const Json json = Json::parse(response.body, nullptr, false);
  if (!json.is_object()) return refused("the container daemon's answer about an image is no JSON");
  ImageInfo info;
  info.architecture = text_of(json, "Architecture");
  info.env = env_of(part(json, "Config"));
  return std::optional<ImageInfo>(std::move(info));
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
  if (!is_ok(*response)) failed = Error{ErrorKind::environment, message_of(*response)};
  if (failed) {
    return refused(fmt::format("image {} is not on this machine and cannot be pulled: {}", name,
                               failed->message));
  }
  return {};
}

Result<std::string> Engine::create(const std::string& name, const Json& body) {
  ASSAY_TRY(const Json json,
            call_json(post("/containers/create?name=" + net::url_encoded(name), body)));
  const std::string id = text_of(json, "Id");
  if (id.empty()) return refused("the container daemon created a container without an id");
  return id;
}

Result<void> Engine::start(const std::string& id) {
  ASSAY_TRY(const net::Response response, call(post(fmt::format("/containers/{}/start", id))));
  if (is_ok(response)) return {};
  return fail(ErrorKind::app, message_of(response));
}

Result<ContainerState> Engine::inspect(const std::string& id) {
  ASSAY_TRY(const Json json,
            call_json(get(fmt::format("/containers/{}/json", net::url_encoded(id)))));
  return state_from(json);
}

Result<void> Engine::kill(const std::string& id, const std::string& signal) {
  ASSAY_TRY(const net::Response response,
            call(post(fmt::format("/containers/{}/kill?signal={}", id, signal))));
  if (is_ok(response)) return {};
  return bad_input(message_of(response));
}

Result<void> Engine::remove(const std::string& id) {
  ASSAY_TRY(const net::Response response,
            call(erase(fmt::format("/containers/{}?force=true&v=true", id))));
  // 409: somebody else is removing it at this moment.
  if (is_ok(response) || response.status == 404 || response.status == 409) return {};
  return refused(message_of(response));
}

Result<std::vector<ListedContainer>> Engine::list(const std::string& label) {
  ASSAY_TRY(const Json json, call_json(get("/containers/json?all=true&filters=" + filter(label))));
  std::vector<ListedContainer> found;
  for (const auto& entry : json) found.push_back({text_of(entry, "Id"), labels_of(entry)});
  return found;
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
  if (response->status != 0 && !is_ok(*response)) return refused(message_of(*response));
  return {};
}

Result<std::string> Engine::gateway(const std::string& network) {
  ASSAY_TRY(const Json json, call_json(get("/networks/" + net::url_encoded(network))));
  for (const auto& config : part(part(json, "IPAM"), "Config")) {
    const std::string gateway = text_of(config, "Gateway");
    if (!gateway.empty()) return gateway;
  }
  return refused(fmt::format("network {} has no way to this machine", network));
}

void OutputSplitter::feed(std::string_view bytes) {
  constexpr size_t kHeader = 8;
  constexpr char kStandardError = 2;
  while (!bytes.empty()) {
    if (left_ == 0) {
      const size_t missing = std::min(kHeader - header_.size(), bytes.size());
      header_.append(bytes.substr(0, missing));
      bytes.remove_prefix(missing);
      if (header_.size() < kHeader) return;
      output_ = header_[0] == kStandardError ? Output::error : Output::standard;
      for (size_t i = 4; i < kHeader; ++i)
        left_ = left_ << 8U | static_cast<unsigned char>(header_[i]);
      header_.clear();
      continue;
    }
    const size_t size = std::min(left_, bytes.size());
    take_(output_, bytes.substr(0, size));
    bytes.remove_prefix(size);
    left_ -= size;
  }
}

Result<void> PullProgress::line(std::string_view text) {
  if (trim(text).empty()) return {};
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return {};
  if (const std::string error = text_of(json, "error"); !error.empty()) return refused(error);
  const std::string layer = text_of(json, "id");
  const Json detail = part(json, "progressDetail");
  if (layer.empty() || text_of(json, "status") != "Downloading" || !detail.is_object()) return {};
  const auto number = [&](const char* key) -> uint64_t {
    const Json value = part(detail, key);
    return value.is_number_unsigned() ? value.get<uint64_t>() : 0;
  };
  layers_[layer] = {number("current"), number("total")};
  return {};
}

uint64_t PullProgress::done() const {
  uint64_t sum = 0;
  for (const auto& entry : layers_) sum += entry.second.done;
  return sum;
}

uint64_t PullProgress::total() const {
  uint64_t sum = 0;
  for (const auto& entry : layers_) sum += entry.second.total;
  return sum;
}

ImageName split_image(const std::string& image) {
  if (const size_t at = image.find('@'); at != std::string::npos)
    return {image.substr(0, at), image.substr(at + 1)};
  const size_t slash = image.rfind('/');
  const size_t colon = image.rfind(':');
  if (colon == std::string::npos || (slash != std::string::npos && colon < slash))
    return {image, "latest"};
  return {image.substr(0, colon), image.substr(colon + 1)};
}

}  // namespace assay::launch
