// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include <assay/base/result.h>
#include <assay/base/time.h>
#include <assay/samples/series.h>

/// The facts of a session: what was asked for, on what, and how it ended. What follows from them
/// and from the samples (footprint, goals reached, advice) is computed by `analysis`, never kept
/// here.
namespace assay {

using Json = nlohmann::ordered_json;

struct App {
  std::string name_space;
  std::string name;
  std::string version;
  std::string image;  ///< empty when it runs as a plain command

  /// "namespace/name:version", without the parts that are empty.
  std::string full_name() const;
};

/// The network link to run on; what is absent is as the machine has it.
struct Link {
  std::optional<double> rate_bits_per_second;
  std::optional<Nanoseconds> delay;  ///< of what the app sends
  std::optional<double> loss_ratio;  ///< 0.01: every hundredth packet

  bool empty() const { return !rate_bits_per_second && !delay && !loss_ratio; }
};

/// Limits to run under; absent means unlimited.
struct Limits {
  std::optional<double> cpus;
  std::optional<uint64_t> memory_bytes;
  std::optional<uint64_t> pids;
  std::string gpus;  ///< "all", a number, or ids "0,1"; empty: as the runtime gives them
  Link network;

  /// Whether the control group has nothing to limit.
  bool empty() const { return !cpus && !memory_bytes && !pids; }
};

enum class Comparison : uint8_t { less, less_equal, greater, greater_equal };

/// `latency.p95 <= 200ms`: metric "latency", statistic "p95", bound 0.2.
struct Goal {
  std::string metric;
  std::string statistic = "mean";  ///< mean, p50, p95, p99, peak, min
  Comparison comparison = Comparison::greater_equal;
  double bound = 0;
  std::string text;  ///< as the user wrote it
};

enum class StreamKind : uint8_t {
  video,  ///< MJPEG over HTTP
  image,  ///< a JPEG for each request
  audio,  ///< WAV in chunks
};

/// A camera or microphone that the dataset is played as.
struct Stream {
  std::string id;     ///< what the app asks for: "top_live"
  std::string files;  ///< a file, folder or pattern in the dataset; empty: all that fit
  StreamKind kind = StreamKind::video;
  double frames_per_second = 30;
  bool loop = true;
};

/// A container that must run beside the app: a broker, a model server.
struct Need {
  std::string name;  ///< by which the app reaches it
  std::string image;
  std::vector<std::string> command;
  std::map<std::string, std::string> env;
  std::optional<int> ready_port;  ///< awaited before the app starts ...
  std::string ready_log;          ///< ... and so is a line of its output that has this text
  Nanoseconds ready_timeout = std::chrono::seconds(60);
};

/// One way to run the app.
struct Target {
  std::string name;   ///< what its author calls it; mostly empty
  std::string image;  ///< empty for a plain command
  std::vector<std::string>
      command;  ///< command and arguments; for an image, what follows its entrypoint
  std::map<std::string, std::string> env;
  std::string workdir;
  std::string runtime = "auto";          ///< auto, process, docker, kubernetes
  std::vector<std::string> docker_args;  ///< as given to `docker run`: -v, -e, --device ...
  std::string dataset;                   ///< a path, an https:// or an s3:// address
  std::string dataset_sha256;            ///< empty: not given
  std::vector<Stream> playback;
  std::vector<Need> needs;
  Nanoseconds timeout{0};  ///< 0: until it exits by itself
  Nanoseconds warmup{0};
  Nanoseconds interval = Milliseconds(100);
  Nanoseconds grace = std::chrono::seconds(10);
  int repeat = 1;
  Limits limits;
  std::vector<Goal> goals;
  std::vector<std::string> metrics = {"system", "power"};
};

enum class RunStatus : uint8_t { running, finished, timeout, failed, oom, interrupted };

/// How the app's main process ended, with the kernel's own totals of its whole tree.
struct Exit {
  std::optional<int> code;
  std::optional<int> signal;
  bool core_dumped = false;
  bool oom_killed = false;
  uint64_t forks_refused = 0;  ///< new processes or threads beyond the limit of them
  bool refused = false;        ///< it never started because this machine refused
  std::optional<double> user_seconds;
  std::optional<double> system_seconds;
  std::optional<uint64_t> max_rss_bytes;  ///< of the largest process
  std::string detail;  ///< in plain words: "killed by SIGSEGV", "no such command: x"
};

struct NotMeasured {
  std::string what;
  std::string why;  ///< with what would enable it, where something would
  bool operator==(const NotMeasured&) const = default;
};

/// The machine's identity.
struct Device {
  std::string hostname;
  std::string machine_id;
  std::string
      model;  ///< "Raspberry Pi 4 Model B Rev 1.4", "NVIDIA Jetson AGX Orin", "PowerEdge R750"
  std::string device_class;  ///< "Computer" or "VM"
  std::string cpu_model;
  std::string architecture;
  int cores = 0;
  uint64_t memory_bytes = 0;
  std::string os;
  std::string kernel;
};

/// The machine's state at the start of a run; runs in unlike states are not comparable.
struct BoardState {
  std::string governor;  ///< "performance"; several are joined by "+"; empty: no cpufreq
  std::optional<double> min_frequency_hertz;
  std::optional<double> max_frequency_hertz;
  std::vector<std::string>
      throttling;          ///< "under-voltage now", "core_throttle_count 12"; empty: none seen
  std::string power_mode;  ///< Jetson's nvpmodel; empty elsewhere
  std::string kernel;
  double load_before = 0;  ///< the 1 minute load average
};

/// How well the sampler kept its beat, and what it cost.
struct Sampling {
  Nanoseconds interval{0};           ///< asked for
  Nanoseconds achieved_interval{0};  ///< mean distance of beats
  uint64_t beats = 0;
  uint64_t late_beats = 0;  ///< later than half an interval, or skipped
  Nanoseconds worst_lateness{0};
  double own_cpu_seconds = 0;
};

/// A program beside the app and what it used. Only the kernel's short name: arguments may hold
/// secrets.
struct OtherProcess {
  std::string name;
  double cpu_cores = 0;  ///< mean over the run, all processes of that name together
  bool operator==(const OtherProcess&) const = default;
};

/// Where a run was when that was another machine, and how its clock compares with ours.
struct Elsewhere {
  std::string node;
  std::string measured_by;           ///< "agent on NODE"
  Nanoseconds clock_offset{0};       ///< its clock minus ours; already taken out of all times
  Nanoseconds clock_uncertainty{0};  ///< by at most so much is the offset wrong
  bool operator==(const Elsewhere&) const = default;
};

struct RunRecord {
  int ordinal = 0;        ///< from 1 within the session
  int target_index = 0;   ///< from 0
  int repeat_index = 0;   ///< from 0
  Target target;          ///< secrets masked
  std::string runtime;    ///< "process", "docker", "kubernetes"
  std::string isolation;  ///< "cgroup v2", "cgroup v1", "process tree", "attached", "pod"
  RunStatus status = RunStatus::running;
  Exit exit;
  Timestamp started;
  Timestamp ended;
  BoardState board;
  std::vector<OtherProcess> others;    ///< the busiest beside the app, busiest first
  std::optional<Sampling> sampling;    ///< nothing: nobody was there to count at the end
  std::optional<Elsewhere> elsewhere;  ///< nothing: it ran on this machine
  std::vector<NotMeasured> not_measured;
  std::vector<Loss> losses;

  Nanoseconds duration() const { return ended - started; }
};

struct SessionRecord {
  std::string id;  ///< sorts by time: "20260131-120000-7f3a"
  App app;
  Device device;
  std::string user;
  std::string assay_version;
  Timestamp created;
  std::string folder;
  std::map<std::string, std::string> labels;
  int planned_runs = 0;  ///< with those that an interruption left out; 0: not known
  std::vector<RunRecord> runs;

  /// Of those planned.
  int not_started() const { return std::max(0, planned_runs - static_cast<int>(runs.size())); }
};

std::string_view to_string(RunStatus status);
std::string_view to_string(Comparison comparison);
std::string_view to_string(StreamKind kind);
/// "2 Mbit/s, 80 ms delay, 1 % loss".
std::string link_text(const Link& link);
/// "all GPUs", "2 GPUs", "GPUs 0,1"; empty when they are not chosen.
std::string gpus_text(const Limits& limits);
std::optional<StreamKind> stream_kind_from(std::string_view text);
std::optional<RunStatus> run_status_from(std::string_view text);

/// The JSON forms are those of the session document (docs/session.schema.json). Reading accepts
/// missing keys and ignores unknown ones, so that older and newer histories can be read.
Json to_json(const App& app);
Json to_json(const Target& target);
Json to_json(const Exit& exit);
Json to_json(const Device& device);
Json to_json(const BoardState& board);
Json to_json(const Sampling& sampling);
Json to_json(const RunRecord& run);
Json to_json(const SessionRecord& session);
Result<RunRecord> run_from_json(const Json& json);
Result<SessionRecord> session_from_json(const Json& json);

}  // namespace assay
