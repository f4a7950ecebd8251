// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "docker_args.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>

/// What a spec's docker arguments may use of this machine. Specs come from whoever wrote an app;
/// the operator of the machine says in one file what they may have (docs/policy.md).
namespace assay::launch {

/// A path of this machine that may be mounted, with all below it.
struct MountRule {
  std::filesystem::path path;
  std::string file;    ///< only a regular file of this name, as a copy; empty: anything
  std::string target;  ///< only there in the container; empty: anywhere
  bool write = false;  ///< else only read-only
};

enum class DatasetUse : uint8_t { none, read, write };

/// Names are patterns of fnmatch(3). A pattern that begins with a wildcard never means "host",
/// "ALL" or what has a colon ("container:x"): those must be named.
struct Policy {
  std::filesystem::path file;        ///< empty: the built-in policy
  std::map<std::string, int> lines;  ///< of each key that the file has
  std::vector<MountRule> mounts;
  DatasetUse dataset = DatasetUse::read;      ///< whether `-v` may name paths inside it
  std::vector<std::string> datasets = {"/"};  ///< below which a spec's own may be
  std::vector<std::string> volumes;  ///< by name; a new one without a name is always allowed
  std::vector<std::string> devices;
  std::vector<std::string> networks = {"bridge", "default", "none"};
  std::vector<std::string> env = {"*"};
  std::vector<std::string> capabilities;
  std::vector<std::string> ipc = {"private", "shareable", "none"};
  std::vector<std::string> pid;
  std::vector<std::string> security = {"no-new-privileges", "no-new-privileges=true",
                                       "no-new-privileges:true"};
  std::vector<std::string> runtimes = {"runc", "crun", "nvidia"};
  bool gpus = true;
  bool privileged = false;
};

/// Where container engines of this machine listen, $DOCKER_HOST included. `users` has a folder for
/// each user's own engine.
std::vector<std::filesystem::path> known_engine_sockets(
    const std::filesystem::path& users = "/run/user");

struct PolicyContext {
  std::filesystem::path dataset;  ///< on this machine; empty: none
  std::vector<std::filesystem::path> engine_sockets = known_engine_sockets();
};

/// The policy where there is no file.
Policy default_policy();
/// What the file says, and for keys that it does not have what the built-in policy says. A file
/// that others than root and its owner may write is an error, and so is one that is empty or has
/// anything unknown in it; errors begin with file:line.
Result<Policy> read_policy(const std::filesystem::path& file);
/// The same from a text; `file` is for messages.
Result<Policy> parse_policy(const std::string& text, const std::filesystem::path& file);
/// Of $ASSAY_POLICY, which must be there, else of /etc/assay/policy.yaml, else the built-in one.
Result<Policy> find_policy();

/// Mount sources and devices with links and `..` resolved; what does not exist stays as it is.
/// Judge and use what this returns: then a link that is changed in between leads nowhere else. The
/// engine follows the path once more, so whoever may change folders on the way can still lead it
/// elsewhere; NamedFiles closes that for files that are allowed by name.
DockerArgs resolve_paths(DockerArgs args);

/// One sentence per refused thing: what, which rule of which policy (with its line, where the file
/// has one) and what to do. Empty: all of it is allowed. A source that does not exist is refused,
/// as nobody can tell what it will be. Sockets, folders that hold an engine's socket, and / itself
/// are allowed only by a mount rule of exactly that path, never by one above it nor as dataset.
/// Where no network, IPC mode or runtime is given, what the engine usually takes is judged.
std::vector<std::string> refused_by(const Policy& policy, const DockerArgs& args,
                                    const PolicyContext& context);
/// The same of variables alone.
std::vector<std::string> refused_variables(const Policy& policy,
                                           const std::map<std::string, std::string>& env);
/// Why the context's dataset may not be one. The spec chooses it, so that folders of the system,
/// keys and sockets are none unless `datasets` has exactly that path; / never is.
std::optional<std::string> refused_dataset(const Policy& policy, const PolicyContext& context);

}  // namespace assay::launch
