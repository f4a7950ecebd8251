// SPDX-License-Identifier: Apache-2.0
#include "docker/engine_answers.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <utility>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

int number_of(const Json& json, const char* key) {
  const auto it = json.find(key);
  if (it == json.end() || !it->is_number_integer()) return 0;
  const auto value = it->get<int64_t>();
  return std::in_range<int>(value) ? static_cast<int>(value) : 0;
}

bool is_set(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_boolean() && it->get<bool>();
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

}  // namespace

std::string text_of(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

Json part(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it == json.end() ? Json() : *it;
}

std::string message_of(std::string_view body, int status) {
  const Json json = Json::parse(body, nullptr, false);
  if (json.is_object() && json.contains("message") && json["message"].is_string())
    return json["message"].get<std::string>();
  const auto text = trim(body);
  return text.empty() ? fmt::format("status {}", status) : std::string(text);
}

bool says_it_has_ended(std::string_view body, int status) {
  constexpr int kNotFound = 404;
  constexpr int kConflict = 409;
  return status == kNotFound || status == kConflict ||
         message_of(body, status).find("can only kill running containers") != std::string::npos;
}

bool says_it_cannot_be_executed(std::string_view message) {
  const auto has = [&](std::string_view words) { return message.find(words) != message.npos; };
  return (has("container process") && has("exec: \"")) || has("executable file `") ||
         has("open executable");
}

std::optional<EngineInfo> read_engine(const Json& version) {
  if (!version.is_object() || !version.contains("ApiVersion")) return std::nullopt;
  EngineInfo info;
  info.name = "Docker " + text_of(version, "Version");
  info.architecture = text_of(version, "Arch");
  for (const auto& component : part(version, "Components")) {
    if (text_of(component, "Name") == "Podman Engine")
      info.name = "Podman " + text_of(component, "Version");
  }
  return info;
}

void add_info(const Json& info, EngineInfo& engine) {
  engine.keeps_groups =
      engine.name.starts_with("Docker") && text_of(info, "CgroupDriver") == "cgroupfs";
  for (const auto& option : part(info, "SecurityOptions"))
    engine.rootless = engine.rootless || option == "name=rootless";
}

ImageInfo read_image(const Json& json) {
  ImageInfo info;
  info.architecture = text_of(json, "Architecture");
  info.env = env_of(part(json, "Config"));
  return info;
}

ContainerState read_container(const Json& json) {
  ContainerState found;
  const Json state = part(json, "State");
  found.status = text_of(state, "Status");
  found.pid = std::max(0, number_of(state, "Pid"));
  found.started = parse_utc(text_of(state, "StartedAt"));
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

namespace {

/// "w" of {"Names": ["/w"]}.
std::string first_name(const Json& entry) {
  const Json names = part(entry, "Names");
  if (!names.is_array() || names.empty() || !names.front().is_string()) return "";
  const auto name = names.front().get<std::string>();
  return name.starts_with('/') ? name.substr(1) : name;
}

std::optional<Timestamp> created_at(const Json& entry) {
  const Json created = part(entry, "Created");
  if (!created.is_number_integer()) return std::nullopt;
  const auto seconds = created.get<int64_t>();
  constexpr int64_t kMost = 1LL << 33U;
  if (seconds < 0 || seconds > kMost) return std::nullopt;
  return Timestamp(std::chrono::seconds(seconds));
}

}  // namespace

std::vector<Listed> read_list(const Json& json) {
  std::vector<Listed> found;
  for (const auto& entry : json) {
    if (const std::string id = text_of(entry, "Id"); !id.empty())
      found.push_back(
          {id, labels_of(entry), first_name(entry), text_of(entry, "State"), created_at(entry)});
  }
  return found;
}

std::string read_gateway(const Json& network) {
  for (const auto& config : part(part(network, "IPAM"), "Config")) {
    if (std::string gateway = text_of(config, "Gateway"); !gateway.empty()) return gateway;
  }
  return "";
}

std::string read_address(const Json& container, const std::string& network) {
  const Json all = part(part(container, "NetworkSettings"), "Networks");
  return text_of(part(all, network.c_str()), "IPAddress");
}

std::string read_published(const Json& container, int port) {
  const Json ports = part(part(container, "NetworkSettings"), "Ports");
  for (const auto& place : part(ports, (std::to_string(port) + "/tcp").c_str())) {
    const std::string host = text_of(place, "HostIp");
    const std::string number = text_of(place, "HostPort");
    if (!number.empty() && number != "0") return (host.empty() ? "127.0.0.1" : host) + ":" + number;
  }
  return "";
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
