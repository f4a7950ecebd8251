// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/result.h>

/// The arguments of `docker run` that callers pass along (`app_docker_args`), as values for the
/// Engine API. Nothing is run to read them: no shell, no docker command. What is read here is only
/// what was asked for; `refused_by` in policy.h says what of it a spec may have.
namespace assay::launch {

enum class MountKind : uint8_t { bind, volume, tmpfs };

struct Mount {
  MountKind kind = MountKind::bind;
  std::string source;  ///< a path of this machine or a volume's name; empty: a new volume, a tmpfs
  std::string target;  ///< inside the container: absolute, without `.`, `..` and a slash behind it
  bool read_only = false;
  std::optional<uint64_t> tmpfs_bytes;

  bool operator==(const Mount&) const = default;
};

struct DeviceArg {
  std::string source;  ///< of this machine
  std::string target;
  std::string permissions = "rwm";

  bool operator==(const DeviceArg&) const = default;
};

struct UlimitArg {
  std::string name;
  int64_t soft = 0;  ///< -1: unlimited
  int64_t hard = 0;

  bool operator==(const UlimitArg&) const = default;
};

/// Everything here is to be applied; beside each field stands where the Engine API has it. Empty
/// means that it was not given.
struct DockerArgs {
  std::vector<Mount> mounts;               ///< HostConfig.Mounts
  std::map<std::string, std::string> env;  ///< Env
  /// Those of `env` whose value came from our own environment (`-e NAME`). As with docker, a name
  /// that is not set here is left out.
  std::vector<std::string> env_taken_over;
  std::vector<DeviceArg> devices;     ///< HostConfig.Devices
  std::string network;                ///< HostConfig.NetworkMode
  std::optional<uint64_t> shm_bytes;  ///< HostConfig.ShmSize
  std::string ipc;                    ///< HostConfig.IpcMode
  std::string pid;                    ///< HostConfig.PidMode
  std::string gpus;                   ///< HostConfig.DeviceRequests: "all", "2", "device=0,1"
  bool privileged = false;            ///< HostConfig.Privileged
  std::string user;                   ///< User
  std::string workdir;                ///< WorkingDir
  std::string hostname;               ///< Hostname
  std::string entrypoint;             ///< Entrypoint, one word
  std::string runtime;                ///< HostConfig.Runtime
  std::vector<std::string> hosts;     ///< HostConfig.ExtraHosts, "name:address"
  std::vector<std::string> cap_add;   ///< HostConfig.CapAdd, as "SYS_PTRACE" or "ALL"
  std::vector<std::string> security;  ///< HostConfig.SecurityOpt
  std::vector<UlimitArg> ulimits;     ///< HostConfig.Ulimits
  std::vector<std::string> ignored;   ///< "--rm": accepted, see below
};

/// Takes the forms that docker takes: `-v x`, `-v=x`, `-vx`, `--volume x`, `--volume=x`, `-it`;
/// what can be given once is what was given last. -d, --rm, -i, -t and --name are accepted for the
/// sake of existing calls and have no meaning here: a session always watches its container, gives
/// it no terminal, names and removes it itself. Every other option is an error that names it and
/// the nearest known one; all errors come in one message, and none shows the value of a variable.
Result<DockerArgs> parse_docker_args(const std::vector<std::string>& words);

}  // namespace assay::launch
