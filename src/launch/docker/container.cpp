// SPDX-License-Identifier: Apache-2.0
#include "docker/container.h"

#include "docker/mount_source.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <assay/base/text.h>

namespace assay::launch {
namespace {

Json to_json(const Mount& mount) {
  static constexpr const char* kKinds[] = {"bind", "volume", "tmpfs"};
  Json json = {{"Type", kKinds[static_cast<size_t>(mount.kind)]}, {"Target", mount.target}};
  if (!mount.source.empty()) json["Source"] = mount.source;
  if (mount.read_only) json["ReadOnly"] = true;
  if (mount.tmpfs_bytes) json["TmpfsOptions"]["SizeBytes"] = *mount.tmpfs_bytes;
  return json;
}

/// "all", "2", "0,1" or docker's "device=0,1".
Json gpu_request(const std::string& gpus) {
  Json request = {{"Driver", ""}, {"Capabilities", {{"gpu"}}}};
  constexpr std::string_view kDevice = "device=";
  const bool named = gpus.starts_with(kDevice);
  if (gpus == "all") {
    request["Count"] = -1;
  } else if (const auto count = parse_uint(gpus); count && !named) {
    request["Count"] = *count;
  } else {
    std::string_view rest = gpus;
    if (named) rest.remove_prefix(kDevice.size());
    while (!rest.empty()) request["DeviceIDs"].push_back(std::string(next_field(rest, ',')));
  }
  return request;
}

/// Whether the user decides what is at a place: what is mounted above it may have files of its own
/// there, unless it begins empty.
bool is_users(const DockerArgs& args, const std::string& target) {
  return std::any_of(args.mounts.begin(), args.mounts.end(), [&](const Mount& mount) {
    return mount.target == target || (!mount.source.empty() && is_within(target, mount.target));
  });
}

/// Ours, below those of the user.
class Mounts {
 public:
  explicit Mounts(const DockerArgs& args) : args_(args), all_(args.mounts) {}

  void add(const std::filesystem::path& source, const std::string& target, bool read_only) {
    if (source.empty() || is_users(args_, target)) return;
    Mount mount;
    mount.source = std::filesystem::absolute(source).native();
    mount.target = target;
    mount.read_only = read_only;
    all_.push_back(std::move(mount));
  }

  Json json() const {
    Json list = Json::array();
    for (const auto& mount : all_) list.push_back(to_json(mount));
    return list;
  }

 private:
  const DockerArgs& args_;
  std::vector<Mount> all_;
};

std::string data_target(const std::filesystem::path& dataset) {
  std::error_code error;
  if (std::filesystem::is_directory(dataset, error)) return kDataFolder;
  return fmt::format("{}/{}", kDataFolder, dataset.filename().native());
}

Json mounts(const Request& request, const DockerArgs& args) {
  Mounts all(args);
  // The real path, as it was judged.
  all.add(real_or_clean_path(request.dataset), data_target(request.dataset), true);
  if (!request.socket.empty()) all.add(request.socket.parent_path(), kSocketFolder, true);
  all.add(request.client_library, kClientFolder, true);
  all.add(request.data_config, kDataConfigFile, true);
  all.add(request.published, kPublishedFolder, false);
  return all.json();
}

/// The image's own PYTHONPATH stays; marks and paths of ours cannot be overridden.
Json environment(const Request& request, const DockerArgs& args, const ImageInfo& image,
                 const Owner& owner) {
  std::map<std::string, std::string> env;
  if (!request.client_library.empty() && !image.env.contains("PYTHONPATH"))
    env["PYTHONPATH"] = kClientFolder;
  if (!request.dataset.empty()) env["ASSAY_DATASET"] = data_target(request.dataset);
  if (!request.published.empty() && !is_users(args, kPublishedFolder))
    env["PYWAGGLE_LOG_DIR"] = kPublishedFolder;
  for (const auto& variable : args.env) env[variable.first] = variable.second;
  for (const auto& variable : request.target.env) env[variable.first] = variable.second;
  if (!request.socket.empty())
    env["ASSAY_SOCKET"] = fmt::format("{}/{}", kSocketFolder, request.socket.filename().native());
  return environment_list(std::move(env), request.session_id, request.run, owner);
}

void set_limits(Json& host, const Limits& limits, const DockerArgs& args) {
  constexpr double kNano = 1e9;
  if (limits.cpus) host["NanoCpus"] = static_cast<int64_t>(std::llround(*limits.cpus * kNano));
  if (limits.memory_bytes) {
    host["Memory"] = *limits.memory_bytes;
    // Swap would hide a memory limit: an app that should not fit would run on, only slower.
    host["MemorySwap"] = *limits.memory_bytes;
  }
  if (limits.pids) host["PidsLimit"] = *limits.pids;
  const std::string& gpus = limits.gpus.empty() ? args.gpus : limits.gpus;
  if (!gpus.empty()) host["DeviceRequests"] = {gpu_request(gpus)};
}

void set_args(Json& body, Json& host, const DockerArgs& args) {
  const auto set = [](Json& json, const char* key, const std::string& value) {
    if (!value.empty()) json[key] = value;
  };
  set(host, "NetworkMode", args.network);
  set(host, "IpcMode", args.ipc);
  set(host, "PidMode", args.pid);
  set(host, "Runtime", args.runtime);
  set(body, "User", args.user);
  set(body, "WorkingDir", args.workdir);
  set(body, "Hostname", args.hostname);
  if (!args.entrypoint.empty()) body["Entrypoint"] = {args.entrypoint};
  if (args.shm_bytes) host["ShmSize"] = *args.shm_bytes;
  if (args.privileged) host["Privileged"] = true;
  if (!args.hosts.empty()) host["ExtraHosts"] = args.hosts;
  if (!args.cap_add.empty()) host["CapAdd"] = args.cap_add;
  if (!args.security.empty()) host["SecurityOpt"] = args.security;
  for (const auto& device : args.devices) {
    host["Devices"].push_back({{"PathOnHost", device.source},
                               {"PathInContainer", device.target},
                               {"CgroupPermissions", device.permissions}});
  }
  for (const auto& limit : args.ulimits)
    host["Ulimits"].push_back({{"Name", limit.name}, {"Soft", limit.soft}, {"Hard", limit.hard}});
}

}  // namespace

Json labels(const std::string& session_id, int run, const Owner& owner) {
  return {{kSessionLabel, session_id},
          {kRunLabel, std::to_string(run)},
          {kOwnerLabel, owner.text()},
          {kMachineLabel, machine_name(SysRoot(), owner)}};
}

Json environment_list(std::map<std::string, std::string> env, const std::string& session_id,
                      int run, const Owner& owner) {
  env[std::string(kRunVariable)] = fmt::format("{}/{}", session_id, run);
  env[std::string(kOwnerVariable)] = owner.text();
  Json list = Json::array();
  for (const auto& variable : env) list.push_back(variable.first + "=" + variable.second);
  return list;
}

Json container_body(const Request& request, const DockerArgs& args, const ImageInfo& image,
                    const Owner& owner) {
  const Target& target = request.target;
  Json body = {{"Image", target.image}};
  if (!target.command.empty()) body["Cmd"] = target.command;
  body["Env"] = environment(request, args, image, owner);
  body["Labels"] = labels(request.session_id, request.run, owner);
  body["AttachStdout"] = true;
  body["AttachStderr"] = true;
  Json host = {{"Mounts", mounts(request, args)}, {"LogConfig", {{"Type", "none"}}}};
  set_limits(host, target.limits, args);
  set_args(body, host, args);
  if (!target.workdir.empty()) body["WorkingDir"] = target.workdir;
  if (!request.network.empty()) host["NetworkMode"] = request.network;
  for (const auto& entry : request.hosts) host["ExtraHosts"].push_back(entry);
  body["HostConfig"] = std::move(host);
  return body;
}

}  // namespace assay::launch
