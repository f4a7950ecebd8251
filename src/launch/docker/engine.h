// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include <assay/base/result.h>
#include <assay/launch/launcher.h>
#include <assay/net/http_client.h>
#include <assay/samples/records.h>

namespace assay::launch {

/// Who answers at the socket.
struct EngineInfo {
  std::string name;          ///< "Docker 20.10.24", "Podman 4.3.1"
  std::string architecture;  ///< "amd64"
  /// It puts a container's group below one that is named to it, and nothing else: Docker with the
  /// cgroupfs driver. Podman adds a helper of its own, systemd wants slices.
  bool keeps_groups = false;
  bool rootless = false;  ///< an ordinary user's: its networks are not this machine's
};

struct ImageInfo {
  std::string architecture;
  std::map<std::string, std::string> env;
};

struct ContainerState {
  std::string id;
  std::string status;  ///< created, running, paused, exited, dead, ...
  pid_t pid = 0;       ///< of its first process on this machine; 0 when it does not run
  std::optional<Timestamp> started;
  int exit_code = 0;
  bool oom_killed = false;
  bool paused = false;
  std::string error;  ///< why it could not be started
  std::string image;
  std::string name;
  std::vector<std::string> command;
};

/// A container or a network.
struct Listed {
  std::string id;
  std::map<std::string, std::string> labels;
  std::string name = {};                  ///< of a container
  std::string status = {};                ///< of a container, as in ContainerState
  std::optional<Timestamp> created = {};  ///< of a container
};

/// Where the container's output goes, piece by piece.
enum class Output : uint8_t { standard, error };
using TakeOutput = std::function<void(Output, std::string_view)>;

/// What a pull has brought so far, over all layers that told their size.
using TakeProgress = std::function<bool(uint64_t done, uint64_t total)>;

/// $DOCKER_HOST, else the socket that is there: Docker's, else Podman's of this user or of root.
Result<net::Endpoint> engine_endpoint();
/// Of "unix:///run/docker.sock" or "tcp://10.0.0.7:2376".
Result<net::Endpoint> engine_endpoint(const std::string& host);

/// The Engine API of Docker, or Podman's of the same form, over its socket. Each call waits for the
/// daemon, with a time limit. Used from one thread; several engines may talk to one daemon.
class Engine {
 public:
  explicit Engine(net::Endpoint endpoint);

  const net::Endpoint& endpoint() const { return endpoint_; }
  /// For those who cannot wait for a daemon that hangs.
  void set_patience(Milliseconds patience) { patience_ = patience; }
  /// Asked several times a second while the daemon is waited for; false ends a call, unless it
  /// removes something.
  void set_wanted(StillWanted wanted) { wanted_ = std::move(wanted); }
  /// The command that removes what was ordered and not answered, for messages.
  void set_remover(std::string command) { remover_ = std::move(command); }
  /// Fails with what to do when there is no daemon, it is dead, or we may not talk to it.
  Result<EngineInfo> info();
  /// The last call found nobody at the daemon's address: it has ended.
  bool nobody_listens() const;

  /// Nothing when it is not on this machine.
  Result<std::optional<ImageInfo>> image(const std::string& name);
  /// `progress` returns false to give up.
  Result<void> pull(const std::string& name, const TakeProgress& progress);

  /// Returns the container's id. Where no answer comes, what the daemon makes of the order is
  /// removed; the error says so when that could not be seen to.
  Result<std::string> create(const std::string& name, const Json& body);
  Result<void> start(const std::string& id);
  /// A container that is gone is an error of kind input.
  Result<ContainerState> inspect(const std::string& id);
  /// One that does not run any more is an error of kind input.
  Result<void> kill(const std::string& id, const std::string& signal);
  /// Ends it first when it still runs. One that is gone already is fine; one that somebody else is
  /// removing is waited for.
  Result<void> remove(const std::string& id);
  /// All containers, running or not, that have this label.
  Result<std::vector<Listed>> list(const std::string& label);
  /// The container's output from now on, until it ends or `stopper` is used; `attached` is told
  /// when nothing more can be missed.
  Result<void> attach(const std::string& id, const std::function<void()>& attached,
                      const TakeOutput& take, net::Stopper& stopper);

  /// Copies a file into a folder of a container, which need not run, as `name`.
  Result<void> put(const std::string& id, const std::string& folder, const std::string& name,
                   const std::filesystem::path& file);
  /// The last lines that it wrote, of both kinds, one after the other.
  Result<std::string> last_output(const std::string& id, int lines);
  /// Where a port of the container is published, as "127.0.0.1:32768"; empty: nowhere (yet).
  Result<std::string> published(const std::string& id, int port);

  /// A network of its own, by which its containers reach each other and this machine. Without an
  /// answer, it is taken back as in create().
  Result<void> create_network(const std::string& name, const Json& labels);
  /// One that is gone already is fine; one that is in use cannot be removed.
  Result<void> remove_network(const std::string& name);
  /// All networks that have this label.
  Result<std::vector<Listed>> networks(const std::string& label);
  /// The container's address in the network; empty when it has none.
  Result<std::string> address(const std::string& id, const std::string& network);
  /// The address under which containers of the network reach this machine.
  Result<std::string> gateway(const std::string& network);

 private:
  Result<net::Response> call(net::Request request);
  Result<Json> call_json(const net::Request& request);
  Result<Json> json_of(const net::Response& response) const;
  Failure take_back(const std::string& path, const std::string& what, Error error);
  bool is_soon_gone(const std::string& id);
  Failure cannot_reach(const Error& error) const;

  net::Endpoint endpoint_;
  net::HttpClient client_;
  Milliseconds patience_{60'000};
  StillWanted wanted_;
  std::string remover_ = "assay cleanup";
  bool silent_ = false;  ///< the last call was not answered in time
};

/// Cuts a container's output stream, 8 bytes of header before each piece, back into pieces. Takes
/// it in fragments of any size and keeps no more than a header.
class OutputSplitter {
 public:
  explicit OutputSplitter(TakeOutput take) : take_(std::move(take)) {}
  void feed(std::string_view bytes);

 private:
  TakeOutput take_;
  std::string header_;
  Output output_ = Output::standard;
  size_t left_ = 0;  ///< of the piece
};

/// Adds up the layers of a pull from the lines that the daemon streams.
class PullProgress {
 public:
  /// One line of JSON; an error in it is the pull's.
  Result<void> line(std::string_view text);
  uint64_t done() const;
  uint64_t total() const;

 private:
  struct Layer {
    uint64_t done = 0;
    uint64_t total = 0;
  };
  std::map<std::string, Layer> layers_;
};

/// "name" and "tag" or digest as the API wants them: "waggle/app:1" is {"waggle/app", "1"}.
struct ImageName {
  std::string name;
  std::string tag;
};
ImageName split_image(const std::string& image);

}  // namespace assay::launch
