// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>
#include <assay/base/time.h>

namespace assay::agent {

/// Where the machine stands, as its operator says; empty: nobody said.
struct Location {
  std::string city;
  std::string country;
  std::string continent;
  std::optional<double> latitude;   ///< degrees
  std::optional<double> longitude;  ///< degrees

  friend bool operator==(const Location&, const Location&) = default;
};

/// What the daemon may do to apps, as its operator says.
struct ActSettings {
  bool enabled = false;  ///< changes limits by itself
  double least_cores = 0.1;
  double most_cores = 0;  ///< 0: all that the machine has
  uint64_t least_memory = 64U << 20U;
  uint64_t most_memory = 0;            ///< 0: all that the machine has
  double step = 0.25;                  ///< the most that one change adds or takes, as a share
  std::vector<std::string> apps = {};  ///< globs of names; none: all

  friend bool operator==(const ActSettings&, const ActSettings&) = default;
};

/// What a caller may do.
enum class Role : uint8_t { read, goals, limits, captures };
/// "read", "goals" ...
std::string_view to_string(Role role);

/// Whoever has the token in `file` may do this.
struct TokenSettings {
  std::filesystem::path file;
  std::vector<Role> roles;

  friend bool operator==(const TokenSettings&, const TokenSettings&) = default;
};

/// Whom samples are pushed to, for a node that Prometheus cannot reach.
struct RemoteWrite {
  std::string url = {};              ///< "https://host:9090/api/v1/write"; empty: nobody
  std::filesystem::path queue = {};  ///< folder of what waits; empty: in systemd's state folder
  uint64_t queue_size = 256'000'000;
  Milliseconds interval{15000};
  std::map<std::string, std::string> labels = {};  ///< of each series, beside instance and job
  std::filesystem::path bearer_token_file = {};
  std::filesystem::path basic_auth_file = {};  ///< "user:password"
  std::filesystem::path ca_file = {};
  std::filesystem::path certificate_file = {};  ///< of the client
  std::filesystem::path key_file = {};

  friend bool operator==(const RemoteWrite&, const RemoteWrite&) = default;
};

struct KubernetesSettings {
  bool enabled = true;                    ///< where there is one
  std::filesystem::path kubeconfig = {};  ///< empty: as a pod finds its cluster
  std::string node = {};                  ///< empty: the machine's name

  friend bool operator==(const KubernetesSettings&, const KubernetesSettings&) = default;
};

/// How often apps may be read.
constexpr Milliseconds kShortestInterval{100};
constexpr Milliseconds kLongestInterval{60'000};

/// How the daemon works; docs/agent.md has each of these with its default.
struct Settings {
  std::string listen = "127.0.0.1:9410";  ///< for /metrics and the API; empty: nowhere
  std::filesystem::path socket = {};      ///< the same for this machine; empty: none
  std::filesystem::path hooks = {};       ///< for what apps report; empty: none
  std::filesystem::path docker = "/var/run/docker.sock";  ///< whom to ask for names; empty: nobody
  Milliseconds interval{1000};
  double own_share = 0.01;  ///< of one core, that the daemon itself may use; 0: no limit
  Nanoseconds linger = std::chrono::seconds(60);
  bool containers = true;       ///< the families container_*
  bool node = true;             ///< node_*
  bool characteristics = true;  ///< char_node_*
  bool services = true;
  bool reports = true;     ///< assay_app_*
  Location location = {};  ///< told with char_node_*
  RemoteWrite remote_write = {};
  std::filesystem::path targets_file = {};  ///< tells a Prometheus where to scrape; empty: none
  std::vector<TokenSettings> tokens = {};
  ActSettings act = {};
  KubernetesSettings kubernetes = {};
  std::filesystem::path advice_file = {};  ///< for advice as measurements; empty: none
  std::filesystem::path specs = {};        ///< folder with specs, for their goals; empty: none
  std::filesystem::path state = {};        ///< folder for what outlives it; empty: nothing does
};

/// Tells somebody what happens, in one line.
using Tell = std::function<void(const std::string& line)>;

/// The node daemon: watches all apps of this machine until it is stopped. One thread, and one
/// that sends where samples are pushed.
class Agent {
 public:
  /// The settings as they are by now; an error has a line for each thing that is wrong.
  using Reread = std::function<Result<Settings>()>;

  /// At SIGHUP it asks `reread`, and goes on as that says, or as before when that fails.
  Agent(const SysRoot& root, const Clock& clock, Settings settings, Tell tell,
        Reread reread = nullptr);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  ~Agent();

  /// Begins to watch and to listen. An error says what stands in the way.
  Result<void> start();
  /// Returns at SIGTERM or SIGINT, or when stop() was called.
  void run();
  void stop();
  /// Where it listens, as "127.0.0.1:9410", once started.
  const std::string& address() const;

 private:
  class Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace assay::agent
