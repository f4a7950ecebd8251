// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/files.h>
#include <assay/base/result.h>
#include <assay/probes/probe.h>
#include <assay/samples/records.h>

namespace assay::launch {

/// One run to start.
struct Request {
  std::string session_id;
  int run = 0;
  Target target;  ///< with its secrets; env is added to the caller's own environment
  std::filesystem::path stdout_file;
  std::filesystem::path stderr_file;
  std::filesystem::path socket;  ///< of the hooks; told to the app in ASSAY_SOCKET
  /// What the app finds beside itself, where not empty: a process is told the paths in its
  /// environment, a container has them mounted at the usual places.
  std::filesystem::path dataset;
  std::filesystem::path data_config;     ///< a file in the form of data-config.json
  std::filesystem::path published;       ///< a folder for what a pywaggle plugin publishes
  std::filesystem::path client_library;  ///< only for containers: the folder for PYTHONPATH
  /// Only for containers, from Needs::put_into: the network to join, and "name:address" of whom it
  /// finds there.
  std::string network;
  std::vector<std::string> hosts;
  bool own_cgroup = true;  ///< false: measured by its process tree even where a group could be made
};

enum class StopStep : uint8_t { interrupt, terminate, kill };

/// An app that is about to run, runs, or has ended and is not yet released. Destroying it kills the
/// whole tree and removes what the launcher made. Used from one thread.
class RunningApp {
 public:
  virtual ~RunningApp() = default;
  /// Lets it run, once all that watches it is in place: an app's first moments, when it spreads
  /// over the cores, are its own. What already runs when it is launched or attached to needs
  /// nothing.
  virtual Result<void> begin() { return {}; }
  /// What to sample; constant from start to release.
  virtual const probes::AppTarget& target() const = 0;
  /// What measures it where it is not on this machine; empty: what target() names. Asked for once.
  virtual probes::Probes remote_probes() { return {}; }
  /// Where that is, as far as it is known by now.
  virtual std::optional<Elsewhere> elsewhere() const { return std::nullopt; }
  /// When it began, if that was before begin().
  virtual std::optional<Timestamp> started() const { return std::nullopt; }
  /// When it ended, if others have seen that before us.
  virtual std::optional<Timestamp> ended() const { return std::nullopt; }
  /// "cgroup v2", "cgroup v1", "process tree", "attached" or "pod".
  virtual std::string isolation() const = 0;
  /// Limits that were asked for and could not be applied, with the reason.
  virtual std::vector<NotMeasured> notes() const = 0;
  /// Becomes readable when the main process has ended; then call exited().
  virtual int exit_fd() const = 0;
  /// Nothing while it runs. Afterwards the counters of the cgroup, and of the zombie where there is
  /// no cgroup, can still be read until release().
  virtual std::optional<Exit> exited() = 0;
  /// SIGINT to the main process's group; SIGTERM and SIGKILL to every process of the tree.
  virtual void stop(StopStep step) = 0;
  /// Ends what is left of the tree, removes the cgroup, and completes the exit record with the
  /// kernel's totals (CPU time, largest RSS).
  virtual Exit release() = 0;
  /// What release() could not remove, and how to.
  virtual std::optional<Error> left_behind() const { return std::nullopt; }
};

/// Starts apps in one runtime. A failure to start or to begin is an ErrorKind::app ("no such
/// command: x") or ErrorKind::environment.
class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual std::string name() const = 0;
  /// All but the app's own first step, which is begin()'s.
  virtual Result<std::unique_ptr<RunningApp>> start(const Request& request) = 0;
};

/// Children of this machine, in their own cgroup where one can be made. The app and all it spawned
/// die with us, however we die: a keeper process outlives us just long enough to end them.
std::unique_ptr<Launcher> make_process_launcher(const SysRoot& root = SysRoot());

/// Whether an app can run under these limits here: makes such a control group and removes it.
Result<void> try_limits(const Limits& limits, const SysRoot& root = SysRoot());

/// A process that already runs, with its descendants. Stopping it means to stop watching; it is
/// never signalled.
Result<std::unique_ptr<RunningApp>> attach(pid_t pid, const SysRoot& root = SysRoot());

/// One thing that keeps a container from being run, and the key of the spec that it comes from.
struct Obstacle {
  std::string key;
  Error error;
};

/// The containers of one run to start beside its app.
struct NeedsRequest {
  std::string session_id;
  int run = 0;
  Target target;                 ///< its needs, with their secrets
  std::filesystem::path folder;  ///< of the run: each one's output goes to NAME.log in it
};

/// Told who is awaited and by what sign, several times a second; returns false to give up.
using Waiting = std::function<bool(const std::string& what)>;

/// What runs beside an app and is ready: containers on a network that the app joins. Destroying it
/// kills and removes them. Used from one thread.
class Needs {
 public:
  struct Member {
    std::string name;
    probes::AppTarget target;
  };
  virtual ~Needs() = default;
  /// The network that the app is going to be on.
  virtual const std::string& network() const = 0;
  /// Lets the app join the network and find the others by name.
  virtual void put_into(Request& request) const = 0;
  virtual std::vector<Member> members() const = 0;
  /// Looks who has ended. Call it from time to time while the app runs.
  virtual void poll() = 0;
  /// SIGTERM to all, SIGKILL to those who have not ended after the grace or when `waiting` gives
  /// up; removes them and the network. Returns who had ended before the app, and how.
  virtual std::vector<NotMeasured> stop(Nanoseconds grace, const Waiting& waiting) = 0;
  /// What stop() could not remove, and how to.
  virtual std::optional<Error> left_behind() const = 0;
};

/// Asked several times a second while something is waited for; false gives up.
using StillWanted = std::function<bool()>;

/// The containers of Docker, or of Podman through its socket of the same form.
class Containers {
 public:
  virtual ~Containers() = default;
  /// "Docker 20.10.24".
  virtual const std::string& engine() const = 0;
  /// From now on, what these and what they make ask of the engine is given up when `wanted` says
  /// so, but for what removes something.
  virtual void while_wanted(StillWanted wanted) = 0;
  /// What stands in the way of the target's container; an image that is not on this machine, but
  /// could be pulled, does not.
  virtual std::vector<Obstacle> obstacles(const Target& target) = 0;
  /// Pulls the image unless it is there. `progress` is told bytes, 0 of 0 when not known yet, and
  /// returns false to give up.
  virtual Result<void> have_image(const std::string& image,
                                  const std::function<bool(uint64_t, uint64_t)>& progress) = 0;
  /// Starts what the target needs one after the other, each when the one before is ready. An error
  /// says who never was, or ended before, with its last words; nothing is left behind then.
  virtual Result<std::unique_ptr<Needs>> start_needs(const NeedsRequest& request,
                                                     const Waiting& waiting) = 0;
  /// The address under which the target's container, beside these if any, will reach this machine.
  virtual Result<std::string> host_address(const Target& target, const Needs* needs) = 0;
  virtual std::unique_ptr<Launcher> launcher() = 0;
  /// One that already runs, by its id or name. It is watched and never signalled.
  virtual Result<std::unique_ptr<RunningApp>> attach(const std::string& id) = 0;
  /// Whether one that was watched and has ended runs again: waits while its engine is about to
  /// restart it, else a moment, and never longer than `patience`.
  virtual bool runs_again(const std::string& id, Nanoseconds patience) = 0;
  /// What it is: image, name and command.
  virtual Result<Target> describe(const std::string& id) = 0;
  /// Removes containers and networks that dead sessions left behind, and only those. One line each.
  virtual Result<std::vector<std::string>> clean_up() = 0;
};

/// Talks to the engine at $DOCKER_HOST, else at the usual sockets, from the first question on while
/// that is wanted. An error says why nobody answers.
Result<std::unique_ptr<Containers>> find_containers(const StillWanted& wanted = {});

/// Something that some apps need of this machine.
struct Facility {
  std::string what;
  Result<std::string> found;  ///< what there is; else why not, and behind "; " what to do
};
/// A container engine, queues for slow links, a converter of videos.
std::vector<Facility> examine_facilities();

/// Ends processes and removes cgroups that dead sessions left behind, and only those: whatever was
/// started by an `assay` that still lives is left alone. `cut_off` names the sessions that never
/// came to their end; only theirs are looked for by the mark in a process's environment, since a
/// program that an orderly run left behind on purpose may carry that mark too. Returns what was
/// done, one line each.
std::vector<std::string> clean_up_leftovers(const std::vector<std::string>& cut_off,
                                            const SysRoot& root = SysRoot());

/// The body of the hidden command `assay keeper`: watches one app for `assay`. `fd` is the socket
/// to it.
int keeper_main(int fd);

}  // namespace assay::launch
